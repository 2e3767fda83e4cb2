/**
 * Power saving that leaves slurm.conf, or gets a shorter ResumeTimeout, as with the last autoscaled NodeSet or the one with the longest
 * startWithin: jobs that wait for a node to wake up would lose it. Pure.
 */
import { describeJobs, heldJobs, noJobs } from './hold.ts';
import type { HeldSetting } from './settings-that-cost-jobs.ts';
import type { Change } from './slurm-work.ts';

/** Slurm's own, where the key is missing. */
const shortest = 60;

/** What Slurm runs to wake and stop a node of the operator: nothing. */
export const powerProgram = '/bin/true';

/** What power saving consists of. */
export const powerSavingKeys = [
  'ResumeProgram',
  'SuspendProgram',
  'SuspendTime',
  'ResumeTimeout',
  'SuspendTimeout',
  'ResumeRate',
  'SuspendRate',
  'SchedulerParameters',
];

/** Without this option a job that may not be requeued ends when its node does not wake up in time. */
const requeues = (parameters: string | undefined): boolean =>
  parameters?.split(',').includes('requeue_on_resume_failure') ?? false;

export function powerSavingHolds({ from, to, slurm }: Change): HeldSetting[] {
  const value = (conf: Change['from'], key: string) => conf.settings.get(key.toLowerCase());
  if (value(from, 'ResumeProgram') === undefined) return [];
  const ends = ['ResumeProgram', 'SuspendProgram', 'SuspendTime'].some(
    (key) => value(from, key) !== undefined && value(to, key) === undefined,
  );
  const timeout = (conf: Change['from']) => Number(value(conf, 'ResumeTimeout') ?? shortest);
  if (!ends && timeout(to) >= timeout(from)) return [];
  const held = powerSavingKeys.flatMap((key): (readonly [string, string])[] => {
    const before = value(from, key);
    const changes = before !== undefined && before !== value(to, key);
    const matters =
      key === 'SchedulerParameters'
        ? requeues(before) && !requeues(value(to, key))
        : ends || key === 'ResumeTimeout';
    return changes && matters ? [[key, before]] : [];
  });
  const stays = ends
    ? 'Power saving stays on'
    : `ResumeTimeout stays ${timeout(from)} instead of ${timeout(to)}`;
  const items = (
    cause: 'unknown' | 'jobs',
    jobs: HeldSetting['hold']['jobs'],
    message: string,
  ): HeldSetting[] =>
    held.map(([key, before]) => ({
      key,
      value: before,
      hold: { kind: 'Setting', name: key, cause, jobs, message },
    }));
  if (slurm.kind === 'unknown')
    return items(
      'unknown',
      noJobs,
      `${stays}, because it is unknown whether jobs wait for nodes to wake up: ${slurm.why}`,
    );
  const waking = new Set([...slurm.nodes].flatMap(([name, { isAsleep }]) => (isAsleep === true ? name : [])));
  const jobs = heldJobs(slurm.jobs.filter((job) => job.active && job.nodes.some((name) => waking.has(name))));
  if (jobs.ids.length === 0) return [];
  return items(
    'jobs',
    jobs,
    `${stays}, because Slurm would give up the nodes that it wakes for ${describeJobs(jobs)}. It changes when they have started.`,
  );
}
