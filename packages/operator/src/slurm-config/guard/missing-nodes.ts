/** Pending jobs that ask by name for a node that Slurm does not have: every reconfigure and restart ends them (seen on 24.11 and 26.05). Pure. */
import { describeJobs, type Hold, type HoldSubject, heldJobs } from './hold.ts';
import type { Change, Released, WorkJob } from './slurm-work.ts';

/** As many nodes are shown; each has a hold of its own. */
const mostNodes = 8;

export function jobsOfMissingNodes(
  { from, to, slurm }: Change,
  released: Released,
  { kind, isHeld }: HoldSubject,
): Hold[] {
  if (slurm.kind === 'unknown') return [];
  // Slurm does not list nodes with State=FUTURE, and a node that the new text names will be there.
  const isThere = (name: string) => slurm.nodes.has(name) || from.nodes.has(name) || to.nodes.has(name);
  const missing = new Map<string, WorkJob[]>();
  for (const job of slurm.jobs) {
    if (job.active || job.partitions.some((name) => released.has(name))) continue;
    for (const node of job.nodes.filter((name) => !isThere(name))) {
      const others = missing.get(node);
      if (others === undefined) missing.set(node, [job]);
      else others.push(job);
    }
  }
  return [...missing].slice(0, mostNodes).map(([node, waiting]): Hold => {
    const jobs = heldJobs(waiting);
    return {
      kind,
      name: node,
      cause: 'jobs',
      jobs,
      byRestart: true,
      message: `${isHeld}, because Slurm would end ${describeJobs(jobs)}: ${jobs.pending === 1 ? 'it asks' : 'they ask'} for node ${node}, which Slurm does not have. Scale out until the node is back, or cancel with "scancel ${jobs.ids.join(' ')}"; Slurm refuses other changes of such a job.`,
    };
  });
}
