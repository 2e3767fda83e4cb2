/** A plan as text, and as data. Pure. */
import { count, hosts, moment, printable, span } from '@slurm-operator/advice';
import type { NodeSet } from '@slurm-operator/api';
import type { Live } from '@slurm-operator/kube';
import type { Forecast, Observed, Simulation } from '@slurm-operator/operator/dry-run';
import { formatTimeLimit } from '@slurm-operator/slurm';
import type { SlurmLists, TypicalTimes } from '../gather/dry-run.ts';
import type { Session } from '../session/session.ts';
import type { UnfitJob } from './unfit-jobs.ts';

export interface SetPlan {
  readonly before: Live<NodeSet>;
  readonly after: Live<NodeSet>;
  readonly observed: Observed;
  readonly forecast: Forecast;
  readonly times: TypicalTimes;
  readonly slurm: SlurmLists;
  readonly unfit: readonly UnfitJob[];
  readonly forbidden: readonly string[];
  readonly now: number;
}

type View = Pick<Session, 'io' | 'paint'>;

export function planText(plan: SetPlan, { io, paint }: View): string {
  const { forecast, observed, now, times } = plan;
  const { earliest, likely, latest, created, replaced, removed } = forecast;
  const when = (at: number) => moment(at, { now, timeZone: io.timeZone });
  const lines: string[] = [];
  const row = (title: string, text: string) => lines.push(`  ${title.padEnd(9)} ${printable(text)}`);
  const todo = [
    created.length > 0 && `${created.length} to create`,
    replaced.length > 0 && `${replaced.length} to replace, ${observed.update.maxUnavailable} at a time`,
    removed.length > 0 && `${removed.length} to remove`,
  ].filter((part) => part !== false);
  const head = `${observed.name}: ${count(observed.workers.length, 'worker')}; ${todo.length === 0 ? 'nothing to do' : todo.join(', ')}`;
  lines.push(paint('strong', head));
  const shown = (pods: readonly string[]) => hosts(nodeNames(pods, observed));
  if (created.length > 0) row('+', shown(created));
  if (replaced.length > 0) row('-/+', shown(replaced));
  if (removed.length > 0) row('-', shown(removed));
  if (todo.length > 0) {
    const start =
      times.starts === 0
        ? `${span(times.start)}, assumed`
        : `${span(times.start)}, median of ${times.starts}`;
    const waves = forecast.waves.length;
    const inWaves = waves > 1 ? ` in ${waves} waves` : '';
    row(
      'earliest',
      `${endText(earliest, when)}  if every job there ended now${inWaves}; a worker starts in ${start}`,
    );
    if (likely !== undefined && forecast.history !== undefined)
      row(
        'likely',
        `${endText(likely, when)}  jobs here use ${Math.round(forecast.history.share * 100)} % of their limit (median of ${count(forecast.history.jobs, 'job')} in 30 days)`,
      );
    row('latest', `${endText(latest, when)}${lastJobText(forecast, when)}`);
    if (latest.lowestAvailable < latest.availableBefore)
      row(
        'capacity',
        `never below ${latest.lowestAvailable} of ${latest.availableBefore} workers that can take jobs`,
      );
  }
  for (const note of notes(plan)) lines.push(paint('warning', `  ! ${printable(note)}`));
  lines.push(
    `${observed.deletionPolicy === 'Delete' && observed.deleting ? '' : 'No job is cancelled. '}Nothing was changed.`,
  );
  return `${lines.join('\n')}\n`;
}

/** Workers by the names that they have in Slurm, as in every other command. A pod that does not exist yet continues the row of the others. */
export function nodeNames(pods: readonly string[], { workers, name }: Observed): readonly string[] {
  const known = new Map(workers.map((worker) => [worker.name, worker.slurmName]));
  const prefixes = new Set(workers.map(({ slurmName }) => slurmName.replace(/\d+$/, '')));
  const [prefix] = prefixes.size === 1 ? prefixes : [];
  return pods.map((pod) => {
    const ordinal = pod.startsWith(`${name}-`) ? pod.slice(name.length + 1) : '';
    return known.get(pod) ?? (prefix !== undefined && /^\d+$/.test(ordinal) ? prefix + ordinal : pod);
  });
}

const endText = ({ endsAt }: Simulation, when: (at: number) => string): string =>
  endsAt === undefined ? 'never' : when(endsAt);

function lastJobText({ lastJob, latest }: Forecast, when: (at: number) => string): string {
  if (lastJob === undefined || latest.endsAt === undefined) return '';
  const { id, user, nodes, deadline, startedAt } = lastJob;
  if (id === 0) return `  the last job there must end by ${when(deadline)}`;
  const limit =
    startedAt === undefined ? '' : `, limit ${formatTimeLimit(Math.round((deadline - startedAt) / 60_000))}`;
  return `  job ${id} (${user}${limit}) on ${hosts(nodes, 20)} ends last, by ${when(deadline)}`;
}

/** What makes the forecast uncertain, or the change never end; each only where it is true. */
export function notes({ forecast, observed, slurm, unfit, forbidden }: SetPlan): readonly string[] {
  const { endless, unexplained, latest, earliest } = forecast;
  const pending =
    slurm.kind === 'known' ? slurm.jobs.filter(({ state }) => state.includes('PENDING')).length : 0;
  const jobs = endless.map((job) => {
    const who = job.id === 0 ? 'a job' : `job ${job.id} (${job.user})`;
    const why = job.suspended ? 'is suspended' : 'has no time limit';
    return `${who} on ${hosts(job.nodes, 20)} ${why}: its workers stay until it ends.`;
  });
  const stuck = latest.endsAt === undefined && endless.length + unexplained.length === 0;
  return [
    ...(observed.autoscale === undefined
      ? []
      : [
          'This NodeSet is autoscaled, and the plan is about workers that are awake. Slurm starts and stops others as jobs need them; they start with the new revision.',
        ]),
    ...jobs,
    ...(unexplained.length === 0
      ? []
      : [`${hosts(unexplained, 20)} are busy, and no job that you may see explains it.`]),
    ...(stuck ? latest.withheld.slice(0, 3).map((why) => `${why}.`) : []),
    ...(earliest.outdated.length === 0
      ? []
      : [outdatedNote(nodeNames(earliest.outdated, observed), observed)]),
    ...(latest.deletedClaims.length === 0
      ? []
      : [
          `${count(latest.deletedClaims.length, 'PersistentVolumeClaim')} would be deleted (whenScaled: Delete).`,
        ]),
    ...(unfit.length === 0
      ? []
      : [
          `${count(unfit.length, 'pending job')} could never start any more: ${unfit
            .slice(0, 3)
            .map(
              ({ id, user, nodes, left }) => `job ${id} (${user}) asks for ${nodes} nodes, ${left} are left`,
            )
            .join('; ')}${unfit.length > 3 ? ' …' : ''}.`,
        ]),
    ...(slurm.kind === 'unknown'
      ? [`Slurm was not asked, the ends are those that the operator wrote on the pods: ${slurm.why}`]
      : []),
    ...(pending > 0 && forecast.replaced.length > observed.update.maxUnavailable
      ? [
          `${count(pending, 'job')} wait: a worker whose turn comes later may get a new one, and then ends later.`,
        ]
      : []),
    ...(forbidden.length === 0
      ? []
      : [`You may not list ${forbidden.join(', ')}: what depends on them is left out.`]),
  ];
}

function outdatedNote(names: readonly string[], { update, updateHeld }: Observed): string {
  const why =
    updateHeld ??
    (update.paused
      ? 'the rollout is paused'
      : update.type === 'OnDelete'
        ? 'updateStrategy is OnDelete: delete their pods yourself'
        : update.type === 'ScheduledUpdate'
          ? 'they wait for the maintenance window'
          : `partition is ${update.partition}`);
  return `${hosts(names, 20)} keep the old revision: ${why}.`;
}

/** The same for -o json and yaml. */
export function summary(plan: SetPlan): object {
  const { forecast, observed, before } = plan;
  const time = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString());
  return {
    nodeSet: before.metadata.name,
    workers: observed.workers.length,
    create: forecast.created,
    replace: forecast.replaced,
    remove: forecast.removed,
    maxUnavailable: observed.update.maxUnavailable,
    earliest: time(forecast.earliest.endsAt),
    ...(forecast.likely === undefined ? {} : { likely: time(forecast.likely.endsAt) }),
    latest: time(forecast.latest.endsAt),
    lowestAvailable: forecast.latest.lowestAvailable,
    blocked: forecast.latest.blocked,
    waves: forecast.waves.map(({ at, names }) => ({ at: time(at), workers: names })),
    steps: forecast.latest.steps.map(({ at, ...step }) => ({ at: time(at), ...step })),
    notes: notes(plan),
  };
}
