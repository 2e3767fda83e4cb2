/**
 * Partitions that were made with scontrol, or in a file that slurm.conf includes: a reconfigure and a restart of slurmctld forget them,
 * with their jobs (seen on 24.11 and 26.05). Pure.
 */
import { describeJobs, type Hold, type HoldSubject, heldJobs, noJobs } from './hold.ts';
import { type Change, isIn } from './slurm-work.ts';

export function partitionsOfSlurmAlone({ from, to, slurm }: Change, { kind, isHeld }: HoldSubject): Hold[] {
  const hold = { kind, jobs: noJobs, byRestart: true } as const;
  const excluded = from.includes.filter((file) => !to.includes.includes(file));
  if (slurm.kind === 'unknown') {
    const lost =
      slurm.mayForget ??
      (excluded.length > 0
        ? `the partitions of ${excluded.join(', ')}, which is no longer included`
        : undefined);
    if (lost === undefined) return [];
    const message = `${isHeld}, because Slurm would forget ${lost}, and does not say whether jobs need it: ${slurm.why}`;
    return [{ ...hold, name: 'partitions', cause: 'unknown', message }];
  }
  const alone = [...slurm.partitions].filter(
    ([name]) => !from.partitions.has(name) && !to.partitions.has(name),
  );
  return alone.flatMap(([name, accepts]): Hold[] => {
    const jobs = heldJobs(slurm.jobs.filter((job) => isIn(job, name)));
    const forgets = `${isHeld}, because Slurm would forget partition ${name}, which slurm.conf does not name`;
    if (jobs.ids.length > 0)
      return [
        {
          ...hold,
          name,
          cause: 'jobs',
          jobs,
          message: `${forgets}, with its ${describeJobs(jobs)}. Add the partition to spec.extraConf, or move or cancel the jobs.`,
        },
      ];
    // A file that is still included may name it.
    if (!accepts || (to.includes.length > 0 && excluded.length === 0)) return [];
    const close = `scontrol update partition=${name} state=drain`;
    const message = `${forgets}, and a job that is submitted to it meanwhile. Add the partition to spec.extraConf, or close it with "${close}".`;
    return [{ ...hold, name, cause: 'closing', message }];
  });
}
