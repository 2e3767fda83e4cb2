/** The status of a pod from what its containers do, as a pure function, in the words the kubelet uses. */
import type { Container, ContainerStatus, Pod, PodCondition, PodStatus } from '../../objects/objects.ts';
import type { ContainerRecord, ContainerState, Termination } from './container-record.ts';
import { isSidecar } from './plan.ts';

export interface StatusInput {
  readonly pod: Pod;
  readonly records: ReadonlyMap<string, ContainerRecord>;
  readonly hostIP: string;
  readonly podIP: string | undefined;
  readonly sandboxReady: boolean;
  readonly now: number;
}

export const timestamp = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');

export function podStatus(input: StatusInput): PodStatus {
  const { pod, records, now } = input;
  const phase = phaseOf(pod, records);
  const startTime = pod.status?.startTime ?? timestamp(now);
  const inits = pod.spec.initContainers ?? [];
  const statuses = (containers: readonly Container[]) =>
    containers.flatMap((container) => {
      const record = records.get(container.name);
      return record === undefined ? [] : [containerStatus(container, record)];
    });
  return {
    phase,
    conditions: conditionsOf(input, phase),
    hostIP: input.hostIP,
    hostIPs: [{ ip: input.hostIP }],
    ...(input.podIP === undefined ? {} : { podIP: input.podIP, podIPs: [{ ip: input.podIP }] }),
    startTime,
    ...(inits.length === 0 ? {} : { initContainerStatuses: statuses(inits) }),
    containerStatuses: statuses(pod.spec.containers),
    ...(pod.status?.qosClass === undefined ? {} : { qosClass: pod.status.qosClass }),
  };
}

type Phase = NonNullable<PodStatus['phase']>;

export function phaseOf(pod: Pod, records: ReadonlyMap<string, ContainerRecord>): Phase {
  const policy = pod.spec.restartPolicy ?? 'Always';
  for (const init of pod.spec.initContainers ?? []) {
    const record = records.get(init.name);
    if (isSidecar(init)) continue;
    if (record?.state.is === 'terminated' && record.state.exitCode !== 0 && policy === 'Never')
      return 'Failed';
  }
  const mains = pod.spec.containers.map((container) => records.get(container.name));
  let running = 0;
  let failed = 0;
  let done = 0;
  for (const record of mains) {
    if (record === undefined) continue;
    if (record.state.is === 'running') running++;
    else if (record.state.is === 'terminated') {
      if (record.state.exitCode === 0) done++;
      else failed++;
    } else if (record.last !== undefined) running++; // waiting to be started again
  }
  if (running + failed + done === 0) return 'Pending';
  if (running + failed + done < mains.length) return 'Pending';
  if (running > 0) return 'Running';
  if (policy === 'Always') return 'Running';
  if (failed === 0) return 'Succeeded';
  return policy === 'OnFailure' ? 'Running' : 'Failed';
}

function conditionsOf(input: StatusInput, phase: string): PodCondition[] {
  const { pod, records, now } = input;
  const inits = pod.spec.initContainers ?? [];
  const uninitialized = inits
    .filter((container) => {
      const record = records.get(container.name);
      if (record === undefined) return true;
      return isSidecar(container)
        ? !record.started
        : !(record.state.is === 'terminated' && record.state.exitCode === 0);
    })
    .map((container) => container.name);
  const watched = [...pod.spec.containers, ...inits.filter(isSidecar)];
  const unready = watched
    .filter((container) => records.get(container.name)?.ready !== true)
    .map((container) => container.name);
  const gates = (pod.spec.readinessGates ?? [])
    .map((gate) => gate.conditionType)
    .filter((type) => pod.status?.conditions?.find((entry) => entry.type === type)?.status !== 'True');
  const completed = phase === 'Succeeded';
  const list = (names: readonly string[]) => `[${names.join(' ')}]`;
  const containersReady: Wanted = completed
    ? { type: 'ContainersReady', status: 'False', reason: 'PodCompleted' }
    : unready.length > 0
      ? {
          type: 'ContainersReady',
          status: 'False',
          reason: 'ContainersNotReady',
          message: `containers with unready status: ${list(unready)}`,
        }
      : { type: 'ContainersReady', status: 'True' };
  const ready: Wanted =
    containersReady.status === 'True' && gates.length > 0
      ? {
          type: 'Ready',
          status: 'False',
          reason: 'ReadinessGatesNotReady',
          message: gates
            .map((type) => `corresponding condition of pod readiness gate "${type}" does not exist.`)
            .join(', '),
        }
      : { ...containersReady, type: 'Ready' };
  const initialized: Wanted =
    uninitialized.length === 0 || completed
      ? { type: 'Initialized', status: 'True', ...(completed ? { reason: 'PodCompleted' } : {}) }
      : {
          type: 'Initialized',
          status: 'False',
          reason: 'ContainersNotInitialized',
          message: `containers with incomplete status: ${list(uninitialized)}`,
        };
  const wanted: Wanted[] = [
    { type: 'PodReadyToStartContainers', status: input.sandboxReady ? 'True' : 'False' },
    initialized,
    ready,
    containersReady,
    { type: 'PodScheduled', status: 'True' },
  ];
  const ours = new Set(wanted.map((entry) => entry.type));
  const others = (pod.status?.conditions ?? []).filter((entry) => !ours.has(entry.type));
  return [...wanted.map((entry) => settle(pod, entry, now)), ...others];
}

interface Wanted {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason?: string;
  readonly message?: string;
}

function settle(pod: Pod, wanted: Wanted, now: number): PodCondition {
  const before = pod.status?.conditions?.find((entry) => entry.type === wanted.type);
  return {
    ...wanted,
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
    lastProbeTime: null,
    lastTransitionTime:
      before?.status === wanted.status ? (before.lastTransitionTime ?? timestamp(now)) : timestamp(now),
  } as unknown as PodCondition; // its type has no null, which kubelets write for a time that is not set
}

function containerStatus(container: Container, record: ContainerRecord): ContainerStatus {
  const id = record.state.is === 'waiting' ? record.last?.containerId : record.state.containerId;
  return {
    name: record.name,
    state: stateStatus(record.state),
    lastState: record.last === undefined ? {} : { terminated: terminated(record.last) },
    ready: record.ready,
    restartCount: record.restarts,
    image: container.image ?? '',
    imageID: record.imageId,
    ...(id === undefined ? {} : { containerID: `runc://${id}` }),
    started: record.state.is === 'running' && record.started,
  };
}

function stateStatus(state: ContainerState) {
  switch (state.is) {
    case 'waiting':
      return {
        waiting: { reason: state.reason, ...(state.message === undefined ? {} : { message: state.message }) },
      };
    case 'running':
      return { running: { startedAt: timestamp(state.startedAt) } };
    case 'terminated':
      return { terminated: terminated(state) };
  }
}

function terminated(end: Termination) {
  return {
    exitCode: end.exitCode,
    ...(end.signal === undefined ? {} : { signal: end.signal }),
    reason: end.reason,
    ...(end.message === undefined || end.message === '' ? {} : { message: end.message }),
    startedAt: timestamp(end.startedAt),
    finishedAt: timestamp(end.finishedAt),
    containerID: `runc://${end.containerId}`,
  };
}
