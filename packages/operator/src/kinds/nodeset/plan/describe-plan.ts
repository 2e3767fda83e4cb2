/** A plan in words, one line per change, in the order in which they begin. Nothing is carried out. Pure. */
import { describeActions } from '../../../framework/actions.ts';
import type { WorkerAction } from '../model/actions.ts';
import { slotKey } from '../model/observed.ts';
import type { NodeSetPlan } from './plan.ts';

export function describeNodeSetPlan({ actions, workers, lookAgainAt }: NodeSetPlan): string[] {
  return [
    ...actions.flatMap((action) =>
      action.type === 'Workers' ? action.actions.map(describeWorkerAction) : describeActions([action]),
    ),
    ...workers.withheld.map((why) => `wait: ${why}`),
    ...(lookAgainAt === undefined ? [] : [`look again at ${new Date(lookAgainAt).toISOString()}`]),
  ];
}

export function describeWorkerAction(action: WorkerAction): string {
  const { kind } = action;
  const what = kind.replaceAll('-', ' ');
  switch (kind) {
    case 'create-worker':
      return `${what} ${slotKey(action.slot)}${action.revision === undefined ? '' : ` of revision ${action.revision}`}`;
    case 'delete-worker':
      return `${what} ${action.name} (${action.why}): ${action.because}`;
    case 'drain':
    case 'keep-down':
    case 'set-down':
      return `${what} ${action.slurmName}: ${action.reason}`;
    default:
      return `${what}${subjectOf(action)}`;
  }
}

function subjectOf(action: WorkerAction): string {
  if ('slurmNames' in action) return ` ${action.slurmNames.join(', ')}`;
  if ('slurmName' in action) return ` ${action.slurmName}`;
  return 'name' in action ? ` ${action.name}` : '';
}
