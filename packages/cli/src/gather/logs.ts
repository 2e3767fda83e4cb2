/** The last lines of containers that are not well; healthy ones are not read. */
import { type Evidence, forbidden, known, type Values } from '@slurm-operator/advice';
import { type Client, ForbiddenError, podLog } from '@slurm-operator/kube';

const mostPods = 20;
const lines = 60;
const bytes = 64 << 10;

type PodView = Values['pods'][number];

export async function gatherLogs(
  client: Client,
  pods: readonly PodView[],
  signal: AbortSignal,
  now: number,
): Promise<Evidence<ReadonlyMap<string, string>>> {
  const failing = pods.filter(isFailing).slice(0, mostPods);
  const logs = new Map<string, string>();
  let refused = false;
  await Promise.all(
    failing.flatMap((pod) =>
      [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]
        .filter(({ state, restartCount }) => state?.running === undefined || restartCount > 0)
        .map(async ({ name, state }) => {
          const ref = { namespace: pod.metadata.namespace, name: pod.metadata.name };
          const previous = state?.waiting?.reason === 'CrashLoopBackOff';
          try {
            const options = { container: name, tailLines: lines, limitBytes: bytes, signal };
            const text = await podLog(client, ref, previous ? { ...options, previous } : options);
            logs.set(`${ref.name}/${name}`, text);
          } catch (error) {
            // A container that never ran has no log.
            if (error instanceof ForbiddenError) refused = true;
          }
        }),
    ),
  );
  return refused ? forbidden('get', 'pods/log') : known(logs, now);
}

function isFailing(pod: PodView): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  const ready = pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
  const restarted = pod.status?.containerStatuses?.some(({ restartCount }) => restartCount > 2);
  return ready !== true || restarted === true;
}
