/** Ends the pods that no node will end, looking every few seconds. */
import { type Manager, NotFoundError, sleep } from '@slurm-operator/kube';
import { nodes, type Pod, pods } from '../../objects/objects.ts';
import { isFinished } from '../../objects/pods.ts';
import { planCollection } from './plan.ts';

export interface PodCollectorOptions {
  /** @default 20 s, as in a real cluster */
  readonly everyMs?: number;
  /** A node must be missing this long: its object may only be late. @default 40 s */
  readonly quarantineMs?: number;
}

export function addPodCollector(manager: Manager, options: PodCollectorOptions = {}): void {
  const { cache, client, clock, log } = manager;
  const everyMs = options.everyMs ?? 20_000;
  const quarantineMs = options.quarantineMs ?? 40_000;
  const missingSince = new Map<string, number>();
  manager.add({
    name: 'pod-collector',
    async run(signal) {
      while (!signal.aborted) {
        await sleep(Math.min(everyMs, quarantineMs / 2), signal).catch(() => {});
        if (signal.aborted) return;
        await collect(signal).catch((error: unknown) =>
          log.warn({ reason: (error as Error).message }, 'pods without a node were not collected'),
        );
      }
    },
  });

  async function collect(signal: AbortSignal): Promise<void> {
    const known = new Map(cache.list(nodes).map((node) => [node.metadata.name, node]));
    const all = cache.list(pods);
    const missing = new Set(
      all.flatMap((pod) => (pod.spec.nodeName && !known.has(pod.spec.nodeName) ? [pod.spec.nodeName] : [])),
    );
    for (const name of missingSince.keys()) if (!missing.has(name)) missingSince.delete(name);
    for (const name of missing) if (!missingSince.has(name)) missingSince.set(name, clock.monotonic());
    const gone = new Set(
      [...missingSince]
        .filter(([, since]) => clock.monotonic() - since >= quarantineMs)
        .map(([name]) => name),
    );
    for (const { pod, message } of planCollection({ pods: all, nodes: known, gone }))
      await end(pod, message, signal);
  }

  async function end(pod: Pod, message: string, signal: AbortSignal): Promise<void> {
    try {
      if (!isFinished(pod) && pod.spec.nodeName) {
        const generation =
          pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation };
        const disrupted = {
          type: 'DisruptionTarget',
          ...generation,
          status: 'True',
          lastProbeTime: null,
          lastTransitionTime: new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z'),
          reason: 'DeletionByPodGC',
          message,
        };
        await client.patch(
          pods,
          pod.metadata,
          {
            type: 'strategic',
            body: { status: { ...generation, phase: 'Failed', conditions: [disrupted] } },
          },
          { subresource: 'status', signal },
        );
      }
      await client.delete(pods, pod.metadata, { uid: pod.metadata.uid, gracePeriodSeconds: 0, signal });
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
  }
}
