/**
 * Power saving that leaves slurm.conf, or gets a shorter ResumeTimeout, as with the last autoscaled NodeSet or the one with the longest
 * startWithin: jobs that wait for a node to wake up would lose it. Pure.
 */
import { describeJobs, heldJobs, noJobs } from './hold.ts';
import type { HeldSetting } from './settings-that-cost-jobs.ts';
import type { Change } from './slurm-work.ts';

/** Slurm's own, where the key is missing. */
const shortest = 60;

/** Without one of them Slurm's power saving is off. */
const keys = [
  'ResumeProgram',
  'SuspendProgram',
  'SuspendTime',
  'ResumeTimeout',
  'SuspendTimeout',
  'ResumeRate',
  'SuspendRate',
];

export function powerSavingHolds({ from, to, slurm }: Change): HeldSetting[] {
  const value = (conf: Change['from'], key: string) => conf.settings.get(key.toLowerCase());
  if (value(from, 'ResumeProgram') === undefined) return [];
  const ends = ['ResumeProgram', 'SuspendProgram', 'SuspendTime'].some(
    (key) => value(from, key) !== undefined && value(to, key) === undefined,
  );
  const timeout = (conf: Change['from']) => Number(value(conf, 'ResumeTimeout') ?? shortest);
  if (!ends && timeout(to) >= timeout(from)) return [];
  const held = keys.flatMap((key): (readonly [string, string])[] => {
    const before = value(from, key);
    const changes = before !== undefined && before !== value(to, key);
    return changes && (ends || key === 'ResumeTimeout') ? [[key, before]] : [];
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
  const waking = new Set([...slurm.nodes].flatMap(([name, { isWaking }]) => (isWaking === true ? name : [])));
  const jobs = heldJobs(slurm.jobs.filter((job) => job.active && job.nodes.some((name) => waking.has(name))));
  if (jobs.ids.length === 0) return [];
  return items(
    'jobs',
    jobs,
    `${stays}, because Slurm would give up the nodes that it wakes for ${describeJobs(jobs)}. It changes when they have started.`,
  );
}
