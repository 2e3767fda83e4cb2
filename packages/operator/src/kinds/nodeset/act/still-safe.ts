import type { SlurmNode } from '@slurm-operator/slurm';
import { hasStopped } from '../autoscale/safe-to-stop.ts';
import { isPoweringUp } from '../autoscale/slot-states.ts';
import type { SafeBecause, WorkerAction } from '../model/actions.ts';
import { isDrained, isForeign } from '../model/node-state.ts';

/** Whether Slurm is the one who says that it is safe, and must therefore be asked once more. */
export function isSlurmsWord(because: SafeBecause): boolean {
  return ['drained', 'drained-by-other', 'unknown-to-slurm', 'powered-down', 'not-accepted'].includes(
    because,
  );
}

/** A node list that was fetched for the purpose, and whether every suspended job was known after it. */
export interface FreshList {
  readonly nodes: ReadonlyMap<string, SlurmNode>;
  readonly jobsKnown: boolean;
}

/** Law L1 once more, on a list, by name, that was fetched for the purpose after the plan was made; without one nothing is safe. */
export function stillSafe(
  { because, slurmName }: Extract<WorkerAction, { kind: 'delete-worker' }>,
  fresh: FreshList | undefined,
): boolean {
  if (!isSlurmsWord(because)) return true;
  if (fresh === undefined) return false;
  const node = fresh.nodes.get(slurmName);
  // A drain that was deleted with its record keeps no jobs away: the next plan decides whether the worker may be deleted.
  if (node === undefined) return because === 'unknown-to-slurm';
  // A node that is listed as idle may hold a suspended job.
  if (!fresh.jobsKnown) return false;
  if (because === 'not-accepted') return isPoweringUp(node.state);
  if (because === 'powered-down') return hasStopped(node.state); // law A2
  // Nor does a drain that a user has taken over: a list of a moment ago is too old to decide on it.
  return (
    isDrained(node.state) && !(because === 'drained' && isForeign({ ...node.state, reason: node.reason }))
  );
}
