import type { SlurmNode } from '@slurm-operator/slurm';
import type { Action, SafeBecause } from '../plan/actions.ts';
import { isDrained, isForeign } from '../plan/node-state.ts';

/** Whether Slurm is the one who says that it is safe, and must therefore be asked once more. */
export function isSlurmsWord(because: SafeBecause): boolean {
  return because === 'drained' || because === 'drained-by-other' || because === 'unknown-to-slurm';
}

/** A node list that was fetched for the purpose, and whether every suspended job was known after it. */
export interface FreshList {
  readonly nodes: ReadonlyMap<string, SlurmNode>;
  readonly jobsKnown: boolean;
}

/** Law L1 once more, on a list, by name, that was fetched for the purpose after the plan was made; without one nothing is safe. */
export function stillSafe(
  { because, slurmName }: Extract<Action, { kind: 'delete-worker' }>,
  fresh: FreshList | undefined,
): boolean {
  if (!isSlurmsWord(because)) return true;
  if (fresh === undefined) return false;
  const node = fresh.nodes.get(slurmName);
  // A drain that is gone with its record holds nobody back any more: whether the worker may go is for the next plan to say.
  if (node === undefined) return because === 'unknown-to-slurm';
  // A node that is listed as idle may hold a suspended job.
  if (!fresh.jobsKnown) return false;
  // Nor does one that somebody else made their own, of whom a list of a moment ago says too little.
  return (
    isDrained(node.state) && !(because === 'drained' && isForeign({ ...node.state, reason: node.reason }))
  );
}
