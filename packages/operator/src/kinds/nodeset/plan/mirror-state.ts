/** What Slurm says of a node, as conditions of its pod: so that `kubectl` shows a drain, and why, without asking Slurm. */
import type { WorkerAction } from '../model/actions.ts';
import { askAbout, isDrained, isForeign } from '../model/node-state.ts';
import type { Observed, SlurmNode, Worker } from '../model/observed.ts';

/** Every condition of ours on a pod begins with this. */
export const statePrefix = 'SlurmNodeState';

const bases: Readonly<Record<SlurmNode['base'], string>> = {
  ALLOCATED: 'Allocated',
  DOWN: 'Down',
  ERROR: 'Error',
  FUTURE: 'Future',
  IDLE: 'Idle',
  MIXED: 'Mixed',
  UNKNOWN: 'Unknown',
  EXTERNAL: 'External',
};

const flags: Readonly<Record<string, string>> = {
  COMPLETING: 'Completing',
  DRAIN: 'Drain',
  FAIL: 'Fail',
  INVALID: 'Invalid',
  INVALID_REG: 'InvalidReg',
  MAINTENANCE: 'Maintenance',
  NOT_RESPONDING: 'NotResponding',
  UNDRAIN: 'Undrain',
};

/** One condition per state, never two of a type; a flag that is not in the table is left to `scontrol show node`. */
export function stateConditions(node: SlurmNode): ReadonlyMap<string, string> {
  const names = [bases[node.base], ...[...node.flags].toSorted().flatMap((flag) => flags[flag] ?? [])];
  // Slurm 24.11 keeps the reason of a drain that is over.
  const reason = hasReason(node) ? node.reason : '';
  return new Map(names.map((name) => [`${statePrefix}${name}`, reason]));
}

/** Whether something about the node has a reason now. */
function hasReason(node: SlurmNode): boolean {
  const isDown = node.base === 'DOWN' || node.base === 'ERROR';
  return isDown || ['DRAIN', 'FAIL', 'INVALID_REG'].some((flag) => node.flags.has(flag));
}

/** Its Slurm node is drained and has no jobs: the pod and its machine may be removed. Absent means no. */
export const safeToDeleteType = 'SafeToDelete';

export const isSafeByCondition = ({ slurmConditions }: Pick<Worker, 'slurmConditions'>): boolean =>
  slurmConditions.has(safeToDeleteType);

/** How soon the lists are looked at again for one in which the jobs are newer than the nodes. */
const jobsSoon = 2_000;

interface Mirrored {
  readonly actions: readonly WorkerAction[];
  readonly wakeAt: number | undefined;
}

const unchanged: Mirrored = { actions: [], wakeAt: undefined };

/**
 * While the view is unknown the last states stay: they say when they were written. What is unknown is never safe, and neither is a drain
 * of ours that is to end, such as the one that a new worker finds on its node. `staysDrained`: the operator wants the node drained.
 */
export function mirrorState(
  worker: Worker,
  observed: Observed,
  { staysDrained, now }: { readonly staysDrained: boolean; readonly now: number },
): Mirrored {
  if (worker.terminating) return unchanged;
  const answer = askAbout(worker, observed);
  const isUnknown = answer.kind === 'unknown' || answer.kind === 'foreign';
  const known = worker.slurmConditions;
  const { name, uid } = worker;
  if (isUnknown) {
    if (!isSafeByCondition(worker)) return unchanged;
    const over = [safeToDeleteType];
    return { actions: [{ kind: 'mirror-state', name, uid, conditions: new Map(), over }], wakeAt: undefined };
  }
  const wanted = new Map(answer.kind === 'present' ? stateConditions(answer.node) : []);
  const safe =
    answer.kind === 'present' && (staysDrained || isForeign(answer.node))
      ? safety(worker, answer.node, observed)
      : 'no';
  if (safe === 'yes')
    wanted.set(safeToDeleteType, `Slurm node ${worker.slurmName} is drained and has no jobs.`);
  const conditions = new Map([...wanted].filter(([type, message]) => known.get(type) !== message));
  const over = [...known.keys()].filter((type) => !wanted.has(type));
  const wakeAt = safe === 'not yet' ? now + jobsSoon : undefined;
  if (conditions.size === 0 && over.length === 0) return { actions: [], wakeAt };
  return { actions: [{ kind: 'mirror-state', name, uid, conditions, over }], wakeAt };
}

/** `not yet`: a list of jobs that is newer than that of the nodes may say yes. Once told, it need not be proved with every list. */
function safety(worker: Worker, node: SlurmNode, { slurm }: Observed): 'yes' | 'no' | 'not yet' {
  if (!isDrained(node) || slurm.kind === 'unknown' || slurm.jobsUnknown !== undefined) return 'no';
  return slurm.jobsAfterNodes || isSafeByCondition(worker) ? 'yes' : 'not yet';
}
