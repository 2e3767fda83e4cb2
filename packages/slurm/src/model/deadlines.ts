/** When running jobs must have ended: start plus time limit, per node. */

import { expandHostlist } from '../meaning/hostlist.ts';
import { occupiesNodes, type SlurmJob } from './job.ts';

/** Milliseconds since the epoch; `infinite` if a job has no time limit; `unknown` if Slurm did not report enough. */
export type Deadline = number | 'infinite' | 'unknown';

/** The deadline of one job; `undefined` if it has no nodes. */
export function jobDeadline(job: Pick<SlurmJob, 'state' | 'startedAt' | 'timeLimit'>): Deadline | undefined {
  if (!occupiesNodes(job.state)) return undefined;
  if (job.timeLimit === 'infinite') return 'infinite';
  // The time in which a job is suspended does not count against its limit.
  if (job.startedAt === undefined || job.timeLimit === undefined || job.state.includes('SUSPENDED'))
    return 'unknown';
  return job.startedAt + job.timeLimit * 60_000;
}

/** For every node with jobs, when the last of them must have ended. */
export function nodeDeadlines(jobs: Iterable<SlurmJob>): ReadonlyMap<string, Deadline> {
  const deadlines = new Map<string, Deadline>();
  for (const job of jobs) {
    const deadline = jobDeadline(job);
    if (deadline === undefined) continue;
    for (const node of expandHostlist(job.nodes)) deadlines.set(node, later(deadlines.get(node), deadline));
  }
  return deadlines;
}

/** The later of two deadlines; `unknown` takes precedence over `infinite`. */
function later(a: Deadline | undefined, b: Deadline): Deadline {
  if (a === undefined) return b;
  if (a === 'unknown' || b === 'unknown') return 'unknown';
  if (a === 'infinite' || b === 'infinite') return 'infinite';
  return Math.max(a, b);
}
