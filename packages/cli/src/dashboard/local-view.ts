/** The cluster of the command as the page shows it: read and changed with the Slurm token of the person who runs the command. */
import { randomBytes } from 'node:crypto';
import { label, resourceName } from '@slurm-operator/api';
import {
  Access,
  assembleDashboard,
  ClusterFeed,
  type ClusterView,
  type Dashboard,
  NoSlurmToken,
  Sessions,
  StaticFiles,
  templatesOf,
} from '@slurm-operator/dashboard';
import { configMaps, ForbiddenError } from '@slurm-operator/kube';
import { systemClock } from '@slurm-operator/slurm';
import { CliError } from '../errors.ts';
import { nodeSets } from '../session/resources.ts';
import { Session } from '../session/session.ts';
import { OneTimeLogin } from './one-time-login.ts';
import { pageFiles } from './page-files.ts';
import { PolledObjects } from './polled-objects.ts';

export interface LocalDashboard extends AsyncDisposable {
  /** With a code that works once, after the #: browsers do not send it. */
  readonly link: string;
}

export async function openDashboard(session: Session, port: number): Promise<LocalDashboard> {
  const stack = new AsyncDisposableStack();
  const clock = systemClock;
  const { metadata } = await session.cluster();
  const ref = { namespace: metadata.namespace, name: metadata.name };
  const { client: slurm, user = 'you' } = await session.openSlurm();
  // A token of Slurm's administrator, where the exchange gives one: only for changes of nodes.
  const ofNodes = new Session({
    io: session.io,
    line: session.line,
    signal: session.signal,
    scope: 'nodes',
    config: (await session.client()).config,
  });
  stack.use(ofNodes);
  const feed = stack.use(new ClusterFeed({ client: slurm, clock, firstVersion: clock.now() }));
  const polled = new PolledObjects(session);
  const stopping = new AbortController();
  const polling = polled.run(stopping.signal);
  stack.defer(async () => {
    stopping.abort();
    await polling.catch(() => undefined);
  });
  const view: ClusterView = {
    ref,
    feed,
    reader: slurm,
    objects: () => polled.objects,
    slurmIdentity: () => ({ kind: 'user', name: user }),
    actAs: async (_session, scope) => {
      const open = scope === 'nodes' ? await ofNodes.openSlurm() : await session.openSlurm();
      return { client: open.client, user: open.user ?? user, [Symbol.dispose]: () => {} };
    },
    configFiles: async (signal) => {
      const of = (await session.cluster()).spec.controllerRef?.name ?? ref.name;
      const client = await session.client();
      const [inForce, tried] = await Promise.all(
        [resourceName.config(of), resourceName.configTrial(of)].map((name) =>
          client.find(configMaps, { ...ref, name }, { signal }).catch((error: unknown) => {
            if (error instanceof ForbiddenError) return undefined;
            throw error;
          }),
        ),
      );
      return inForce?.data && { inForce: inForce.data, tried: tried?.data };
    },
    jobTemplates: async (signal) => {
      const selector = { namespace: ref.namespace, labelSelector: label.jobTemplate, signal };
      const found = await (await session.client()).list(configMaps, selector).catch((error: unknown) => {
        if (error instanceof ForbiddenError) return { items: [] };
        throw error;
      });
      return templatesOf(found.items, ref.name);
    },
    // kubectl slurm plan says more than a page that reads this little of Kubernetes.
    planRollout: () => Promise.resolve(undefined),
    pauseRollout: async (_session, nodeSet, paused, signal) => {
      const body = { spec: { updateStrategy: { rollingUpdate: { paused } } } };
      const client = await session.client();
      await client
        .mergePatch(nodeSets, { ...ref, name: nodeSet }, body, { signal })
        .catch((error: unknown) => {
          if (error instanceof ForbiddenError) throw new NoSlurmToken(error.message, 403);
          throw error;
        });
    },
  };
  const sessions = new Sessions({ clock });
  const code = randomBytes(24).toString('base64url');
  const dashboard: Dashboard = assembleDashboard({
    views: {
      list: () => [view],
      find: ({ namespace, name }) => (namespace === ref.namespace && name === ref.name ? view : undefined),
    },
    clock,
    hosts: 'any',
    secure: false,
    sessions,
    // Kubernetes and Slurm decide with this person's own credentials; there is no other to keep out.
    access: new Access({ clock, review: () => Promise.resolve(true) }),
    login: new OneTimeLogin(sessions, user, code),
    files: await StaticFiles.of(pageFiles()),
    audit: () => {},
    onError: (error, path) =>
      session.note(`${path}: ${error instanceof Error ? error.message : String(error)}`),
  });
  stack.use(dashboard);
  feed.start();
  try {
    const at = await dashboard.server.listen(port, '127.0.0.1');
    const { name, namespace } = ref;
    return {
      link: `http://127.0.0.1:${at}/c/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}#${code}`,
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (cause) {
    await stack.disposeAsync();
    throw new CliError(`Port ${port} of this machine cannot be used: ${(cause as Error).message}`, { cause });
  }
}
