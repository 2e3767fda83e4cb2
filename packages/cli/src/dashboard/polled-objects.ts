/** The objects of one cluster, read again every few seconds with the rights of the person who runs the command. */
import type { Cluster } from '@slurm-operator/api';
import type { ClusterObjects } from '@slurm-operator/dashboard';
import { events, ForbiddenError, type Live, pods } from '@slurm-operator/kube';
import { clusters, controllers, nodeSets } from '../session/resources.ts';
import type { Session } from '../session/session.ts';

const everyMs = 5_000;

export class PolledObjects {
  readonly #session: Session;
  #objects: ClusterObjects | undefined;

  constructor(session: Session) {
    this.#session = session;
  }

  get objects(): ClusterObjects | undefined {
    return this.#objects;
  }

  /** Until the signal is aborted. What cannot be read stays as it was. */
  async run(signal: AbortSignal): Promise<void> {
    const { metadata } = await this.#session.cluster();
    while (!signal.aborted) {
      await this.#read(metadata).catch(() => undefined);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, everyMs);
        signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
      });
    }
  }

  async #read({ namespace, name }: Live<Cluster>['metadata']): Promise<void> {
    const { signal } = this.#session;
    const client = await this.#session.client();
    const list = <T>(reading: Promise<{ readonly items: readonly T[] }>) =>
      reading.then(
        ({ items }) => items,
        (error: unknown) => {
          // What may not be seen is not shown.
          if (error instanceof ForbiddenError) return [];
          throw error;
        },
      );
    const cluster = await client.get(clusters, { namespace, name }, { signal });
    const of = cluster.spec.controllerRef?.name ?? '';
    const [allControllers, sets, allPods, allEvents] = await Promise.all([
      list(client.list(controllers, { namespace, signal })),
      list(client.list(nodeSets, { namespace, signal })),
      list(client.list(pods, { namespace, signal })),
      list(client.list(events, { namespace, signal })),
    ]);
    this.#objects = {
      cluster,
      controller: allControllers.find(({ metadata }) => metadata.name === of),
      nodeSets: sets.filter(({ spec }) => spec.controllerRef.name === of),
      pods: allPods,
      events: allEvents,
    };
  }
}
