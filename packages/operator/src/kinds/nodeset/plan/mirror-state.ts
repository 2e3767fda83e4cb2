/** What Slurm says of a node, as conditions of its pod: so that `kubectl` shows a drain, and why, without asking Slurm. */
import type { WorkerAction } from '../model/actions.ts';
import { askAbout } from '../model/node-state.ts';
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

/** While the view is unknown the last conditions stay: they say when they were written. */
export function mirrorState(worker: Worker, observed: Observed): WorkerAction[] {
  const answer = askAbout(worker, observed);
  if (answer.kind === 'unknown' || answer.kind === 'foreign' || worker.terminating) return [];
  const wanted = answer.kind === 'present' ? stateConditions(answer.node) : new Map<string, string>();
  const known = worker.slurmConditions;
  const conditions = new Map([...wanted].filter(([type, message]) => known.get(type) !== message));
  const over = [...known.keys()].filter((type) => !wanted.has(type));
  if (conditions.size === 0 && over.length === 0) return [];
  return [{ kind: 'mirror-state', name: worker.name, uid: worker.uid, conditions, over }];
}
