/** Everything that the dashboard program runs, on a manager without an election. */
import { readFile } from 'node:fs/promises';
import { app, label } from '@slurm-operator/api';
import {
  Access,
  assembleDashboard,
  Login,
  NoSlurmToken,
  type ProxyOptions,
  type Session,
  Sessions,
  StaticFiles,
} from '@slurm-operator/dashboard';
import {
  type Client,
  type ClusterConfig,
  type ControllerRevision,
  controllerRevisions,
  createClient,
  type Event,
  events,
  ForbiddenError,
  type Manager,
  type Node,
  NotFoundError,
  nodes,
  type Pod,
  pods,
  project,
  reviewAccess,
  reviewToken,
  services,
  type Transform,
} from '@slurm-operator/kube';
import { jwtExpiry, systemClock } from '@slurm-operator/slurm';
import { clusters, controllers, nodeSets, restApis } from '../cache/resources.ts';
import type { UserMapping } from '../exchange/slurm-user.ts';
import { ExchangeClient, type ExchangePlace } from './ask-exchange.ts';
import { ClusterPool } from './cluster-pool.ts';
import { SlurmTokens } from './slurm-tokens.ts';

export interface ProxySettings extends Omit<ProxyOptions, 'secret'> {
  readonly secretFile: string;
  /** Ask the token exchange for the people whom the proxy has logged in. */
  readonly actAsUsers: boolean;
}

export interface DashboardSettings {
  readonly address: { readonly port: number; readonly host?: string };
  /** The folder with the page. */
  readonly page: string;
  /** Names under which browsers reach it; empty: any. */
  readonly hosts: readonly string[];
  /** Browsers come over TLS. */
  readonly secure: boolean;
  readonly users: UserMapping;
  readonly exchange: ExchangePlace;
  readonly clusterDomain: string;
  /** `address`: for a program outside of the cluster, which does not know the names of Services. */
  readonly reachBy: 'name' | 'address';
  readonly proxy: ProxySettings | undefined;
}

/** Of objects that the operator caches as well: only the fields that its plan reads. */
export interface Transforms {
  readonly pod: Transform<Pod>;
  readonly node: Transform<Node>;
  readonly revision: Transform<ControllerRevision>;
}

const eventFields = project<Event>({
  keep: [
    'regarding',
    'eventTime',
    'type',
    'reason',
    'note',
    'series',
    'reportingController',
    'deprecatedLastTimestamp',
    'deprecatedCount',
  ],
});

export async function setupDashboard(
  manager: Manager,
  config: ClusterConfig,
  settings: DashboardSettings,
  transforms: Transforms,
): Promise<void> {
  const { cache, unguardedClient: client } = manager;
  const log = manager.log.child({ part: 'dashboard' });
  const clock = systemClock;
  for (const resource of [clusters, controllers, nodeSets, restApis])
    cache.informer(resource as typeof clusters);
  cache.informer(pods, {
    labelSelector: `${label.name} in (${Object.values(app).join(',')})`,
    transform: transforms.pod,
  });
  cache.informer(nodes, { transform: transforms.node });
  cache.informer(controllerRevisions, {
    labelSelector: `${label.name}=${app.worker}`,
    transform: transforms.revision,
  });
  const { reachBy } = settings;
  if (reachBy === 'address') cache.informer(services);
  cache.informer(events, { transform: eventFields });

  const pool = new ClusterPool({
    cache,
    client,
    clock,
    log,
    tokens: new SlurmTokens(new ExchangeClient(client, settings.exchange, clock), clock),
    ownBearer: () => bearerOf(config),
    asUser: (session, run) => asUser(config, session, run),
    users: settings.users,
    actAsUsers: settings.proxy?.actAsUsers ?? false,
    serviceHost: (namespace, name) => {
      const address =
        reachBy === 'name' ? undefined : cache.get(services, { namespace, name })?.spec?.clusterIP;
      return address ?? `${name}.${namespace}.svc.${settings.clusterDomain}`;
    },
  });
  const sessions = new Sessions({ clock });
  const { proxy } = settings;
  const dashboard = assembleDashboard({
    views: pool,
    clock,
    hosts: settings.hosts.length === 0 ? 'any' : settings.hosts,
    secure: settings.secure,
    sessions,
    access: new Access({
      clock,
      review: (user, resourceAttributes, signal) =>
        reviewAccess(client, user, { resourceAttributes }, { signal }),
    }),
    login: new Login({
      sessions,
      clock,
      expiryOf: jwtExpiry,
      review: (token, signal) => reviewToken(client, token, { signal }),
      ...(proxy && {
        proxy: { ...proxy, secret: (await readFile(proxy.secretFile, 'utf8')).trim() },
      }),
    }),
    files: await StaticFiles.read(settings.page),
    audit: (line) => log.info(line, 'audit'),
    onError: (error, path) => log.error({ err: error, path }, 'a request failed'),
  });
  let isListening = false;
  manager.health.addReadyCheck('dashboard', () => (isListening ? undefined : 'it does not listen yet'));
  manager.add(pool, { everywhere: true });
  manager.add(
    {
      name: 'dashboard',
      async run(signal) {
        const { port, host = '::' } = settings.address;
        const listensAt = await dashboard.server.listen(port, host);
        isListening = true;
        log.info({ port: listensAt }, 'dashboard listens');
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve(), { once: true });
          if (signal.aborted) resolve();
        });
        await dashboard[Symbol.asyncDispose]();
      },
    },
    { everywhere: true },
  );
}

/** A client of the user's token. What the API server refuses becomes a sentence. */
async function asUser(
  config: ClusterConfig,
  { bearer, user }: Session,
  run: (client: Client) => Promise<void>,
): Promise<void> {
  if (bearer === undefined)
    throw new NoSlurmToken(
      `${user.username} came through a proxy that passes no token of Kubernetes on: pause and resume rollouts with kubectl.`,
      403,
    );
  const { ca } = await config.identity({ refused: false });
  const identity = { ...(ca === undefined ? {} : { ca }), authorization: `Bearer ${bearer}` };
  const client = createClient(
    { ...config, identity: () => Promise.resolve(identity) },
    { userAgent: 'slurm-operator-dashboard' },
  );
  try {
    await run(client);
  } catch (error) {
    if (error instanceof ForbiddenError || error instanceof NotFoundError)
      throw new NoSlurmToken(error.message, error instanceof ForbiddenError ? 403 : 404);
    throw error;
  } finally {
    client.close();
  }
}

async function bearerOf(config: ClusterConfig): Promise<string> {
  const { authorization = '' } = await config.identity({ refused: false });
  const bearer = /^Bearer (\S+)$/i.exec(authorization)?.[1];
  if (bearer === undefined)
    throw new Error(
      'the dashboard needs a token of Kubernetes of its own, such as that of its ServiceAccount',
    );
  return bearer;
}
