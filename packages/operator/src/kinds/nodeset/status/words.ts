/** What the messages of a NodeSet share. Pure. */
import { isOwn } from '../model/node-state.ts';
import type { Observed, SlurmNode, Worker } from '../model/observed.ts';

/** The Slurm node of a worker, if Slurm has one that is its own. */
export function nodeOf({ slurm }: Observed, worker: Worker): SlurmNode | undefined {
  const node = slurm.kind === 'known' ? slurm.nodes.get(worker.slurmName) : undefined;
  return node !== undefined && isOwn(node, worker) ? node : undefined;
}

/** The first three. */
export function names(list: readonly { readonly name: string }[]): string {
  const shown = list.slice(0, 3).map((each) => each.name);
  return list.length > 3 ? `${shown.join(', ')} and ${list.length - 3} more` : shown.join(', ');
}
