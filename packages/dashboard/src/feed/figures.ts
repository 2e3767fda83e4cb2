/** The figures of a cluster at one moment. Pure. */
import { baseState } from '../live/job-query.ts';
import type { JobRow } from '../live/job-row.ts';
import { type NodeRow, type NodeUse, nodeUses } from '../live/node-row.ts';

export interface Figures {
  readonly nodes: Readonly<Record<NodeUse, number>>;
  readonly cpus: { readonly all: number; readonly used: number };
  readonly gpus: { readonly all: number; readonly used: number };
  readonly jobs: { readonly running: number; readonly pending: number; readonly other: number };
  /** Pending jobs by Slurm's reason, the most frequent first. */
  readonly waiting: readonly { readonly reason: string; readonly jobs: number }[];
}

const mostReasons = 12;

export function figuresOf(nodes: Iterable<NodeRow>, jobs: Iterable<JobRow>): Figures {
  const uses = Object.fromEntries(Object.keys(nodeUses).map((use) => [use, 0])) as Record<NodeUse, number>;
  const cpus = { all: 0, used: 0 };
  const gpus = { all: 0, used: 0 };
  for (const node of nodes) {
    uses[node.use] += 1;
    cpus.all += node.cpus;
    cpus.used += node.cpusUsed;
    gpus.all += node.gpus;
    gpus.used += node.gpusUsed;
  }
  const counted = { running: 0, pending: 0, other: 0 };
  const reasons = new Map<string, number>();
  for (const { state, reason } of jobs) {
    const base = baseState(state);
    if (base === 'RUNNING') counted.running += 1;
    else if (base === 'PENDING') {
      counted.pending += 1;
      const why = reason === '' ? 'None' : reason;
      reasons.set(why, (reasons.get(why) ?? 0) + 1);
    } else counted.other += 1;
  }
  const waiting = [...reasons]
    .map(([reason, count]) => ({ reason, jobs: count }))
    .toSorted((a, b) => b.jobs - a.jobs || a.reason.localeCompare(b.reason))
    .slice(0, mostReasons);
  return { nodes: uses, cpus, gpus, jobs: counted, waiting };
}
