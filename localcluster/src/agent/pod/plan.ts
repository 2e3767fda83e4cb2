/**
 * What to do next with the containers of a pod, as a pure function: init containers one after the other, sidecars
 * (init containers that restart) kept running beside everything that follows, then the others together.
 */
import type { Container, Pod } from '../../objects/objects.ts';
import type { ContainerRecord } from './container-record.ts';

export interface PodPlan {
  readonly start: readonly Container[];
  /** Containers that crashed and wait: shown as CrashLoopBackOff until the moment given. */
  readonly backOff: readonly { readonly container: Container; readonly until: number }[];
  /** Init containers are still running: the pod is not Initialized. */
  readonly initializing: boolean;
  readonly checkAgainAt?: number;
}

export const isSidecar = (container: Container): boolean => container.restartPolicy === 'Always';

export function planPod(pod: Pod, records: ReadonlyMap<string, ContainerRecord>, now: number): PodPlan {
  const start: Container[] = [];
  const backOff: { container: Container; until: number }[] = [];
  const consider = (container: Container, policy: string) => {
    const record = records.get(container.name);
    if (record === undefined || !wantsStart(record, policy)) return;
    if (record.notBefore !== undefined && record.notBefore > now)
      backOff.push({ container, until: record.notBefore });
    else start.push(container);
  };
  const result = (initializing: boolean): PodPlan => ({
    start,
    backOff,
    initializing,
    ...(backOff.length === 0 ? {} : { checkAgainAt: Math.min(...backOff.map((entry) => entry.until)) }),
  });

  const policyOfMains = pod.spec.restartPolicy ?? 'Always';
  const inits = pod.spec.initContainers ?? [];
  // Once a main container has run, finished init containers are history; only sidecars still matter.
  const mainBegan = pod.spec.containers.some((container) => hasRun(records.get(container.name)));
  // A pod whose place was lost begins again with its init containers, unless nothing of it may run again.
  const beginsAgain = pod.spec.containers.some((container) => {
    const record = records.get(container.name);
    return record !== undefined && wantsStart(record, policyOfMains);
  });
  for (const init of inits) {
    const record = records.get(init.name);
    if (isSidecar(init)) {
      consider(init, 'Always');
      if (!mainBegan && record?.started !== true) return result(true);
      continue;
    }
    if (mainBegan) continue;
    if (record?.former === true && record.state.is === 'terminated') {
      if (!beginsAgain) continue;
      start.push(init);
      return result(true);
    }
    if (record?.state.is === 'terminated' && record.state.exitCode === 0) continue;
    // A failed init container is retried unless the pod must never restart anything.
    consider(init, pod.spec.restartPolicy === 'Never' ? 'Never' : 'OnFailure');
    return result(true);
  }
  for (const container of pod.spec.containers) consider(container, policyOfMains);
  return result(false);
}

function wantsStart(record: ContainerRecord, policy: string): boolean {
  if (record.state.is === 'waiting') return true;
  if (record.state.is === 'running') return false;
  if (policy === 'Always') return true;
  return policy === 'OnFailure' && record.state.exitCode !== 0;
}

const hasRun = (record: ContainerRecord | undefined): boolean =>
  record !== undefined &&
  record.former !== true &&
  (record.state.is !== 'waiting' || record.last !== undefined);

/**
 * How long a container that ended waits before it starts again: the first time not at all, then ten seconds, doubled
 * at each crash up to five minutes; forgotten after ten quiet minutes.
 */
export function backOffAfter(
  previous: number | undefined,
  ranForMs: number,
): { readonly wait: number; readonly next: number } {
  if (previous === undefined || ranForMs > 600_000) return { wait: 0, next: 10_000 };
  return { wait: previous, next: Math.min(previous * 2, 300_000) };
}
