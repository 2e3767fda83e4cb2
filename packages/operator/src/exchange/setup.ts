/** Adds the token exchange to the manager: every replica serves it, not only the leader. */
import { tokenExchange } from '@slurm-operator/api';
import {
  type Cache,
  type CertificateSource,
  type Client,
  type Clock,
  configMaps,
  type Log,
  type Manager,
  reviewAccess,
  reviewToken,
  SelfSignedCertificates,
  secrets,
} from '@slurm-operator/kube';
import { clusters, controllers } from '../cache/resources.ts';
import { jwtKeyOf } from '../objects/key-sources.ts';
import { ExchangeServer } from './exchange-server.ts';
import { type Exchanger, exchangeToken, type SigningKey } from './exchange-token.ts';
import { RequestLimits } from './request-limits.ts';
import type { UserMapping } from './slurm-user.ts';

export interface ExchangeOptions {
  readonly address: { readonly port: number; readonly host?: string | undefined };
  readonly users: UserMapping;
  /** The token must be for one of these. Empty: for the API server. */
  readonly audiences: readonly string[];
  /** Of the program: where the certificate and the ConfigMap are. */
  readonly namespace: string;
}

const readTimeout = 5_000;
/** A script that needs a token every second is doing something wrong. Half of what is served is left to others than this machine. */
const limits = {
  all: { burst: 60, perSecond: 20 },
  each: { burst: 10, perSecond: 0.2 },
  failures: { burst: 32, perSecond: 2 },
  localFailures: { burst: 32, perSecond: 10 },
};

export function setupExchange(manager: Manager, options: ExchangeOptions): ExchangeServer {
  const { unguardedClient: client, cache, clock } = manager;
  const log = manager.log.child({ part: 'token-exchange' });
  const requestLimits = new RequestLimits(limits);
  const exchanger: Exchanger = {
    review: (bearer) => reviewToken(client, bearer, { audiences: options.audiences }),
    isAllowed: (user, resourceAttributes) => reviewAccess(client, user, { resourceAttributes }),
    keyOf: (namespace, cluster) => keyOf({ cache, client }, namespace, cluster),
    users: options.users,
    limits: requestLimits,
    log,
    now: () => clock.now(),
  };
  const server = new ExchangeServer({
    ...options.address,
    certificates: published(client, options.namespace, { log, clock }),
    exchange: (request) => exchangeToken(request, exchanger),
    limits: requestLimits,
    now: exchanger.now,
    log,
  });
  manager.health.addReadyCheck('token exchange', () =>
    server.port === undefined ? 'the certificate is not ready yet' : undefined,
  );
  manager.add(server, { everywhere: true });
  return server;
}

/** Every new certificate is served only after clients can read which authority signed it. */
function published(
  client: Client,
  namespace: string,
  environment: { readonly log: Log; readonly clock: Clock },
): CertificateSource {
  const ref = { namespace, name: tokenExchange.name };
  const own = new SelfSignedCertificates(
    client,
    { secret: ref, dnsNames: [tokenExchange.host] },
    environment,
  );
  return {
    async run(use, signal) {
      let publishing: Promise<void> = Promise.resolve();
      await own.run((certificate) => {
        publishing = publishing
          .then(() => publish(client, ref, signal))
          .then(
            () => use(certificate),
            (error: unknown) => {
              if (!signal.aborted) environment.log.error({ err: error }, 'cannot publish the authority');
            },
          );
      }, signal);
      await publishing;
    },
  };
}

async function publish(
  client: Client,
  ref: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<void> {
  const secret = await client.get(secrets, ref, { signal });
  const authority = Buffer.from(secret.data?.['ca.crt'] ?? '', 'base64').toString('utf8');
  await client.apply(
    configMaps,
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...ref, labels: { 'app.kubernetes.io/part-of': 'slurm-operator' } },
      data: { 'ca.crt': authority, host: tokenExchange.host },
    },
    { signal, fieldManager: tokenExchange.name },
  );
}

async function keyOf(
  { cache, client }: { readonly cache: Cache; readonly client: Client },
  namespace: string,
  name: string,
): Promise<SigningKey | string> {
  const cluster = cache.get(clusters, { namespace, name });
  if (cluster === undefined) return `there is no Cluster ${name} in namespace ${namespace}`;
  const controller = cache.get(controllers, { namespace, name: cluster.spec.controllerRef?.name ?? '' });
  const ref = controller && jwtKeyOf(controller.spec);
  if (ref === undefined) return `Cluster ${name} has no Controller with a JWT key`;
  const secret = await client.find(secrets, { namespace, name: ref.name }, { timeout: readTimeout });
  const encoded = secret?.data?.[ref.key];
  if (encoded === undefined) return `Secret ${ref.name} has no key ${ref.key}`;
  return {
    secret: ref.name,
    key: Buffer.from(encoded, 'base64'),
    annotations: secret?.metadata.annotations ?? {},
    administrator: cluster.spec.username,
  };
}
