/** Keys of slurm.conf whose change makes Slurm lose jobs, each with what was seen on real daemons. Pure. */
import { port } from '@slurm-operator/api';
import type { ConfContent } from './conf-content.ts';
import { describeJobs, type Hold, heldJobs, noJobs } from './hold.ts';
import { powerProgram, powerSavingHolds, powerSavingKeys } from './power-saving.ts';
import type { Change, WorkJob } from './slurm-work.ts';

export interface HeldSetting {
  readonly key: string;
  /** The value in force. */
  readonly value: string;
  readonly hold: Hold;
}

interface CostlyKey {
  readonly key: string;
  /** What Slurm takes where the key is missing; undefined: only two values that are written can differ. */
  readonly fallback: string | undefined;
  /** What happens to jobs, as a sentence. */
  readonly cost: string;
  /** Whether a change between these values costs jobs at all. */
  readonly when?: (from: string, to: string) => boolean;
  /** The jobs that a change would cost. */
  readonly loses: (job: WorkJob, from: string, to: string, facts: ChangeFacts) => boolean;
}

interface ChangeFacts {
  /** Jobs that slurmctld remembers. */
  readonly jobCount: number;
  readonly keepsState: boolean;
}

const everyJob = (): boolean => true;
const activeJobs = ({ active }: WorkJob): boolean => active;
const isSmaller = (from: string, to: string): boolean => Number(to) < Number(from);

/** Tried on 24.11 and 26.05 with jobs that ran, waited and were held (docs/configuration-changes.md). */
const costlyKeys: readonly CostlyKey[] = [
  {
    key: 'ClusterName',
    fallback: undefined,
    cost: 'slurmctld exits, because its state has another name',
    loses: everyJob,
  },
  { key: 'StateSaveLocation', fallback: undefined, cost: 'slurmctld forgets every job', loses: everyJob },
  { key: 'SelectType', fallback: 'select/cons_tres', cost: 'slurmctld forgets every job', loses: everyJob },
  {
    key: 'SlurmdSpoolDir',
    fallback: '/var/spool/slurmd',
    cost: 'workers no longer find the jobs that they run',
    loses: activeJobs,
  },
  {
    key: 'SlurmctldPort',
    fallback: String(port.slurmctld),
    cost: 'slurmctld restarts at the new spec.service.port, and steps of jobs that run no longer find it',
    // The same restart forgets every job of a slurmctld without a volume.
    loses: ({ active }, _from, _to, { keepsState }) => active || !keepsState,
  },
  {
    key: 'MaxJobCount',
    fallback: '10000',
    cost: 'slurmctld forgets every job if it has more jobs than that',
    when: isSmaller,
    loses: (_job, _from, to, { jobCount }) => jobCount > Number(to),
  },
  {
    key: 'MaxArraySize',
    fallback: '1001',
    cost: 'tasks of job arrays disappear',
    when: isSmaller,
    loses: ({ array }) => array,
  },
  {
    key: 'GresTypes',
    fallback: '',
    cost: 'Slurm no longer tracks the generic resources that jobs have or request',
    when: (from, to) => namesOf(from).some((name) => !namesOf(to).includes(name)),
    loses: ({ gres }, from, to) =>
      gres.some((name) => namesOf(from).includes(name) && !namesOf(to).includes(name)),
  },
];

/** What concerns jobs that run, or where slurmctld and its state are, means nothing to a state that no slurmctld uses. */
const ofThatDaemon = ['ClusterName', 'StateSaveLocation', 'SlurmdSpoolDir', 'SlurmctldPort'];

/** Key → the value that counts, also where it is Slurm's own, of every setting that a pending job may need. */
export function settingsThatJobsNeed({ settings }: ConfContent): Map<string, string> {
  const costly = costlyKeys
    .filter(({ key }) => !ofThatDaemon.includes(key))
    .map(({ key, fallback = '' }) => [key, settings.get(key.toLowerCase()) ?? fallback] as const);
  // Without ResumeProgram no node is woken, and SchedulerParameters mean something else. A program that the operator does not write
  // itself belongs to the specification: slurmctld must not run one because it stands in a note.
  const isOurs = ['resumeprogram', 'suspendprogram'].every((key) => settings.get(key) === powerProgram);
  const powerSaving = isOurs ? powerSavingKeys : [];
  const others = ['MaxNodeCount', ...powerSaving].map(
    (key) => [key, settings.get(key.toLowerCase()) ?? ''] as const,
  );
  return new Map([...costly, ...others].filter(([, value]) => value !== ''));
}

export const settingHolds = (change: Change): HeldSetting[] => [
  ...costlyHolds(change),
  ...powerSavingHolds(change),
];

function costlyHolds({ from, to, slurm, keepsState = true }: Change): HeldSetting[] {
  return costlyKeys.flatMap(({ key, fallback, cost, when = differs, loses }): HeldSetting[] => {
    const before = from.settings.get(key.toLowerCase()) ?? fallback;
    const after = to.settings.get(key.toLowerCase()) ?? fallback;
    if (before === undefined || after === undefined || before === after || !when(before, after)) return [];
    const stays = `${key} stays ${before} instead of ${after}, because with the change ${cost}`;
    const hold = { kind: 'Setting', name: key } as const;
    if (slurm.kind === 'unknown')
      return [
        {
          key,
          value: before,
          hold: {
            ...hold,
            cause: 'unknown',
            jobs: noJobs,
            message: `${stays}, and the jobs of Slurm are unknown: ${slurm.why}`,
          },
        },
      ];
    const facts = { jobCount: slurm.jobCount, keepsState };
    const jobs = heldJobs(slurm.jobs.filter((job) => loses(job, before, after, facts)));
    if (jobs.ids.length > 0) {
      const message = `${stays}: ${describeJobs(jobs)}. It changes when they have ended and no partition accepts new ones.`;
      return [{ key, value: before, hold: { ...hold, cause: 'jobs', jobs, message } }];
    }
    const open = [...slurm.partitions].flatMap(([name, accepts]) => (accepts ? name : []));
    if (open.length === 0) return [];
    const message = `${stays}. No job needs it now, but one that is submitted during the change would be lost. Close partition ${listed(open)}, each with "scontrol update partition=${open[0]} state=inactive": then it changes, and the change opens them again.`;
    return [{ key, value: before, hold: { ...hold, cause: 'closing', jobs: noJobs, message } }];
  });
}

/** A few names; the others are counted. */
const listed = (names: readonly string[]): string =>
  `${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`;

const differs = (from: string, to: string): boolean => from !== to;

const namesOf = (list: string): string[] =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
