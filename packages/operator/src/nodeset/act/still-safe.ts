import { isDrained } from '@slurm-operator/slurm';
import type { Action } from '../plan/actions.ts';
import type { NodesView } from '../slurm-gateway.ts';

/** Law L1 once more, on a list that was fetched for the purpose after the plan was made. */
export function stillSafe(action: Extract<Action, { kind: 'delete-worker' }>, fresh: NodesView): boolean {
  if (action.because !== 'drained' && action.because !== 'unknown-to-slurm') return true;
  if (fresh.kind === 'unknown') return false;
  const node = fresh.nodes.find((candidate) => candidate.name === action.slurmName);
  if (node === undefined) return true;
  return isDrained(node.state) && !node.state.flags.has('UNDRAIN');
}
