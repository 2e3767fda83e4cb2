import type { Action, SafeBecause } from '../plan/actions.ts';
import { isDrained, isLeftBehind } from '../plan/node-state.ts';
import type { NodesView } from '../slurm-gateway.ts';

/** Whether Slurm is the one who says that it is safe, and must therefore be asked once more. */
export function isSlurmsWord(because: SafeBecause): boolean {
  return because === 'drained' || because === 'unknown-to-slurm' || because === 'start-untold';
}

/** Law L1 once more, on a list that was fetched for the purpose after the plan was made. */
export function stillSafe(
  { because, slurmName }: Extract<Action, { kind: 'delete-worker' }>,
  fresh: NodesView,
): boolean {
  if (!isSlurmsWord(because)) return true;
  if (fresh.kind === 'unknown') return false;
  const node = fresh.nodes.find((candidate) => candidate.name === slurmName);
  if (node === undefined) return true;
  return because === 'start-untold' ? isLeftBehind(node.state) : isDrained(node.state);
}
