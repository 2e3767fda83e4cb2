/** The containers of a pod after a restart of the agent, from the pod's status. */
import type { Pod } from '../../objects/objects.ts';
import { type ContainerRecord, newRecord, type Termination } from './container-record.ts';

/** Containers that are running in the status have ended: the agent, and with it the node, restarted. */
export function recordsFrom(pod: Pod): ContainerRecord[] {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const inits = new Set((pod.spec.initContainers ?? []).map((container) => container.name));
  return [...(pod.spec.initContainers ?? []), ...pod.spec.containers].map((container) => {
    const status = statuses.find((entry) => entry.name === container.name);
    const fresh = newRecord(container.name);
    if (status === undefined)
      return inits.size > 0 ? { ...fresh, state: { is: 'waiting', reason: 'PodInitializing' } } : fresh;
    const ended = status.state?.terminated ?? status.lastState?.terminated;
    const ran = status.state?.running;
    const last: Termination | undefined =
      ran !== undefined
        ? {
            exitCode: 255,
            reason: 'Unknown',
            startedAt: Date.parse(ran.startedAt ?? ''),
            finishedAt: Date.parse(ran.startedAt ?? ''),
            containerId: (status.containerID ?? '').replace(/^runc:\/\//, ''),
          }
        : ended === undefined
          ? undefined
          : {
              exitCode: ended.exitCode,
              reason: ended.reason ?? 'Error',
              ...(ended.message === undefined ? {} : { message: ended.message }),
              startedAt: Date.parse(ended.startedAt ?? ''),
              finishedAt: Date.parse(ended.finishedAt ?? ''),
              containerId: (ended.containerID ?? '').replace(/^runc:\/\//, ''),
            };
    const completed = status.state?.terminated !== undefined && status.state.terminated.exitCode === 0;
    return {
      ...fresh,
      restarts: status.restartCount,
      imageId: status.imageID,
      ...(last === undefined ? {} : { last }),
      former: true,
      ...(last !== undefined && (ran !== undefined || completed)
        ? { state: { is: 'terminated' as const, ...last } }
        : {}),
    };
  });
}
