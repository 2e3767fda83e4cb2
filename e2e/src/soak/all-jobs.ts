/** Every job in Slurm's accounting, combined with what was observed: an end that was not observed counts too. Pure. */
import type { JobRecord } from './job-record.ts';
import type { TrackedJob } from './workload.ts';

export function allJobs(seen: readonly TrackedJob[], records: readonly JobRecord[]): TrackedJob[] {
  // Slurm 24.11 writes a line for a job that is requeued, too.
  const ended = records.filter(({ state }) => state !== 'PENDING' && state !== 'REQUEUED');
  const last = new Map(ended.map((record) => [record.id, record]));
  const known = new Set(seen.map(({ id }) => id));
  // After a kill -9 a number may have been given twice: only the last one that has it is meant by the account.
  const holders = new Map(seen.map((job) => [job.id, job]));
  const checked = seen.map((job) => {
    const record = holders.get(job.id) === job ? last.get(job.id) : undefined;
    if (record === undefined || record.state === job.end) return job;
    return job.end === undefined || job.end === 'GONE' || job.end === 'COMPLETED'
      ? { ...job, end: record.state, endedAt: record.until, partition: record.partition }
      : job;
  });
  const others = [...last.values()]
    .filter(({ id }) => !known.has(id))
    .map(
      ({ id, state, partition, nodes, from, until }): TrackedJob => ({
        id,
        kind: 'array',
        single: false,
        acceptedAt: from,
        seconds: 0,
        runs: nodes === '' ? [] : [{ node: nodes, from, until }],
        restarts: 0,
        state,
        partition,
        end: state,
        endedAt: until,
      }),
    );
  return [...checked, ...others];
}
