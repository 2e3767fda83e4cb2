/** The condition Progressing of a NodeSet. Pure. */
import { conditionType } from '@slurm-operator/api';
import type { Condition } from '../../../framework/status/conditions.ts';
import { isCurrent } from '../model/availability.ts';
import { describeKept } from '../model/kept-records.ts';
import { isBusy } from '../model/node-state.ts';
import type { Observed, Worker } from '../model/observed.ts';
import type { WorkerPlan } from '../plan/plan-workers.ts';
import type { Counts } from './counts.ts';
import { nodeOf } from './words.ts';

export function progressing(observed: Observed, plan: WorkerPlan, counts: Counts): Condition {
  const type = conditionType.progressing;
  const draining = plan.toRemove.filter((worker) => !worker.terminating);
  const rollout = rolloutProgress(observed, counts);
  if (draining.length > 0) {
    const waiting = draining.filter((worker) => hasWork(observed, worker));
    return {
      type,
      status: 'True',
      reason: 'Draining',
      message: `${draining.length} workers are being removed, ${waiting.length} of them wait for jobs${estimate(waiting)}.${rollout === undefined ? '' : ` ${rollout}`}`,
    };
  }
  if (rollout !== undefined && observed.update.paused)
    return { type, status: 'False', reason: 'Paused', message: `The rollout is paused. ${rollout}` };
  if (rollout !== undefined && observed.update.type === 'RollingUpdate')
    return { type, status: 'True', reason: 'RollingOut', message: rollout };
  if (rollout !== undefined && observed.update.type === 'ScheduledUpdate')
    return {
      type,
      status: 'True',
      reason: 'WaitingForWindow',
      message: `The update waits for the maintenance window ${observed.update.reservation ?? ''}. ${rollout}`,
    };
  const awaited = describeKept(plan.keptRecords.filter(({ slotWaits }) => slotWaits === true));
  if (awaited !== undefined) return { type, status: 'True', reason: 'RecordsKept', message: awaited };
  if (counts.replicas !== counts.desired) {
    return {
      type,
      status: 'True',
      reason: 'Scaling',
      message: `${counts.replicas} workers exist, ${counts.desired} are desired.`,
    };
  }
  const kept = describeKept(plan.keptRecords);
  if (kept !== undefined) return { type, status: 'True', reason: 'RecordsKept', message: kept };
  const { held } = observed.configLines;
  if (held.length > 0) return { type, status: 'True', reason: 'ConfigHeld', message: held.join(' ') };
  return { type, status: 'False', reason: 'Idle', message: 'Nothing is in progress.' };
}

/** How far a rollout is, and when the jobs that it still has to wait for must be over; undefined when none is under way. */
function rolloutProgress(observed: Observed, counts: Counts): string | undefined {
  const outdated = observed.workers.filter((worker) => !isCurrent(worker, observed));
  if (outdated.length === 0 || counts.updatedReplicas >= counts.desired) return undefined;
  const busy = outdated.filter((worker) => hasWork(observed, worker));
  const jobs = busy.length === 0 ? '' : `, ${busy.length} of the others have jobs${estimate(busy)}`;
  return `${counts.updatedReplicas} of ${counts.desired} workers have the new revision${jobs}.`;
}

function hasWork(observed: Observed, worker: Worker): boolean {
  const node = nodeOf(observed, worker);
  return node !== undefined && isBusy(node);
}

/** When the last job that is waited for must be over. */
function estimate(waiting: readonly { deadline: number | undefined }[]): string {
  const latest = Math.max(...waiting.map((worker) => worker.deadline ?? Number.NEGATIVE_INFINITY));
  if (waiting.length === 0 || latest === Number.NEGATIVE_INFINITY) return '';
  return Number.isFinite(latest)
    ? `; the last of these must end by ${new Date(latest).toISOString().slice(0, 19)}Z`
    : '; some of these have no time limit';
}
