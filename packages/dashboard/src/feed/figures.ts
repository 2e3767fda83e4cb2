/** Counts nodes, jobs and what they use. Pure. */
import type { Figures } from '../live/figures.ts';
import { baseState, type JobRow } from '../live/job-row.ts';
import { type NodeRow, type NodeUse, nodeUses } from '../live/node-row.ts';

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
