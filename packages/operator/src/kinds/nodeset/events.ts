/** What users are told in events: only what was really done, once, in a sentence. */
import { reasonPrefix } from '@slurm-operator/api';
import type { Action } from './plan/actions.ts';
import { statePrefix } from './plan/mirror-state.ts';

export interface EventNote {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly note: string;
}

const goneReasons: Record<Extract<Action, { kind: 'delete-worker' }>['why'], string> = {
  'scale-in': 'ScalingDown',
  update: 'RollingUpdate',
  hostname: 'HostnameMismatch',
  deletion: 'ScalingDown',
  'wrong-mode': 'ScalingModeChanged',
  duplicate: 'DuplicateWorker',
  failed: 'FailedWorker',
  unregistered: 'SlurmNodeNotRegistered',
};

const becauseWords: Record<Extract<Action, { kind: 'delete-worker' }>['because'], string> = {
  drained: 'its Slurm node is drained',
  'drained-by-other': 'its Slurm node was drained by someone else and has no jobs',
  'unknown-to-slurm': 'Slurm does not know it',
  'never-started': 'it never started',
  'stale-worker': 'it does not run, and another worker uses its name in Slurm',
  'user-asked': 'deletionPolicy is Delete',
  'no-controller': 'its Controller no longer exists',
};

export function eventsFor(done: readonly Action[], desired: number): EventNote[] {
  const notes: EventNote[] = [];
  const created = done.filter((action) => action.kind === 'create-worker').length;
  if (created > 0)
    notes.push({
      type: 'Normal',
      reason: 'ScalingUp',
      note: `Created ${workers(created)}; ${desired} are desired.`,
    });
  const groups = Map.groupBy(
    done.filter((action) => action.kind === 'delete-worker'),
    (action) => `${goneReasons[action.why]}\u0000${action.because}`,
  );
  for (const group of groups.values()) {
    const [first] = group;
    if (first === undefined) continue;
    const type = first.why === 'unregistered' || first.why === 'failed' ? 'Warning' : 'Normal';
    notes.push({
      type,
      reason: goneReasons[first.why],
      note: `Deleted ${names(group.map((action) => action.name))}: ${becauseWords[first.because]}.`,
    });
  }
  for (const action of done) {
    if (action.kind === 'drain')
      notes.push({
        type: 'Normal',
        reason: 'SlurmNodeDrain',
        note: `Drained Slurm node ${action.slurmName}: ${action.reason}`,
      });
    if (action.kind === 'undrain')
      notes.push({
        type: 'Normal',
        reason: 'SlurmNodeUndrain',
        note: `Undrained Slurm node ${action.slurmName}.`,
      });
    if (action.kind === 'set-down')
      notes.push({
        type: 'Warning',
        reason: 'SlurmNodeDown',
        note: `Set Slurm node ${action.slurmName} DOWN: ${action.reason}`,
      });
    const theirs = action.kind === 'mirror-state' ? foreignDrain(action) : undefined;
    if (action.kind === 'mirror-state' && theirs !== undefined)
      notes.push({
        type: 'Warning',
        reason: 'SlurmNodeDrainedByOthers',
        note: `The Slurm node of ${action.name} was drained by someone else (${theirs}). The operator does not change it; see sinfo -R.`,
      });
    if (action.kind === 'delete-record')
      notes.push({
        type: 'Normal',
        reason: 'DefunctSlurmNodePruned',
        note: `Deleted the record of Slurm node ${action.slurmName}.`,
      });
    if (action.kind === 'delete-claim')
      notes.push({
        type: 'Normal',
        reason: 'SuccessfulDelete',
        note: `Deleted claim ${action.name}: its worker was scaled in and whenScaled is Delete.`,
      });
  }
  return notes.slice(0, 50);
}

/** In whose words a node was drained that we did not drain. The condition on the pod changes once, so this is told once. */
function foreignDrain({ conditions }: Extract<Action, { kind: 'mirror-state' }>): string | undefined {
  const reason = conditions.get(`${statePrefix}Drain`);
  return reason === undefined || reason.startsWith(reasonPrefix) ? undefined : reason || 'no reason given';
}

function workers(count: number): string {
  return count === 1 ? '1 worker' : `${count} workers`;
}

function names(list: readonly string[]): string {
  return list.length <= 5 ? list.join(', ') : `${list.slice(0, 5).join(', ')} and ${list.length - 5} more`;
}
