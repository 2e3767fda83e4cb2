/** Changes of a container's record, with the reasons that the kubelet uses. Pure. */
import { formatDuration } from '@slurm-operator/kubernetes-values';
import type { AgentErrorCode } from '../errors.ts';
import type { ContainerRecord, Termination } from './container-record.ts';
import { backOffAfter } from './plan.ts';

const longestWaitMs = 300_000;
const longestMessage = 4096;

/** How often the container will have been started again when it is started now. */
export function nextAttempt(record: ContainerRecord): number {
  const ended =
    record.state.is === 'terminated' ||
    (record.state.is === 'waiting' && record.state.reason === 'CrashLoopBackOff');
  return ended ? record.restarts + 1 : record.restarts;
}

export function whenStarted(
  record: ContainerRecord,
  run: { readonly id: string; readonly startedAt: number; readonly imageId: string },
): ContainerRecord {
  const last = lastEnd(record);
  const { former: _former, ...here } = record;
  return {
    ...here,
    state: { is: 'running', startedAt: run.startedAt, containerId: run.id },
    ...(last === undefined ? {} : { last }),
    restarts: nextAttempt(record),
    imageId: run.imageId,
    started: false,
    ready: false,
  };
}

export function whenEnded(
  record: ContainerRecord,
  run: { readonly id: string; readonly startedAt: number; readonly finishedAt: number },
  exit: { readonly code: number; readonly oomKilled: boolean; readonly message: string },
): ContainerRecord {
  const { wait, next } = backOffAfter(record.backOff, run.finishedAt - run.startedAt);
  return {
    ...record,
    state: {
      is: 'terminated',
      exitCode: exit.code,
      reason: exit.oomKilled ? 'OOMKilled' : exit.code === 0 ? 'Completed' : 'Error',
      message: exit.message.slice(0, longestMessage),
      startedAt: run.startedAt,
      finishedAt: run.finishedAt,
      containerId: run.id,
    },
    started: false,
    ready: false,
    notBefore: run.finishedAt + wait,
    backOff: next,
  };
}

/** It could not be started: what is shown, and when it is tried again. */
export function whenNotStarted(
  record: ContainerRecord,
  error: { readonly code: AgentErrorCode; readonly message: string },
  now: number,
): ContainerRecord {
  // The container existed, if only for the runtime: that counts as a run that ended.
  if (error.code === 'RunContainerError') {
    const { wait, next } = backOffAfter(record.backOff, 0);
    return {
      ...record,
      state: {
        is: 'terminated',
        exitCode: 128,
        reason: 'StartError',
        message: error.message,
        startedAt: 0,
        finishedAt: now,
        containerId: '',
      },
      restarts: nextAttempt(record),
      notBefore: now + wait,
      backOff: next,
    };
  }
  const wait = record.backOff ?? (error.code === 'ErrImagePull' ? 10_000 : 2000);
  return {
    ...record,
    state: { is: 'waiting', reason: error.code, message: error.message },
    notBefore: now + wait,
    backOff: Math.min(wait * 2, longestWaitMs),
  };
}

/** While it waits for its next attempt; the same record when nothing is to be shown. */
export function whenBackingOff(
  record: ContainerRecord,
  { image, who }: { readonly image: string; readonly who: string },
): ContainerRecord {
  const { state } = record;
  if (state.is === 'waiting' && state.reason === 'ErrImagePull') {
    const message = `Back-off pulling image "${image}": ErrImagePull: ${state.message ?? ''}`;
    return { ...record, state: { is: 'waiting', reason: 'ImagePullBackOff', message } };
  }
  if (state.is !== 'terminated') return record;
  const seconds = ((record.notBefore ?? 0) - state.finishedAt) / 1000;
  const message = `back-off ${formatDuration(seconds)} restarting failed container=${record.name} pod=${who}`;
  const last = lastEnd(record);
  return {
    ...record,
    state: { is: 'waiting', reason: 'CrashLoopBackOff', message },
    ...(last === undefined ? {} : { last }),
    started: false,
    ready: false,
  };
}

function lastEnd(record: ContainerRecord): Termination | undefined {
  if (record.state.is !== 'terminated') return record.last;
  const { is: _is, ...end } = record.state;
  return end;
}
