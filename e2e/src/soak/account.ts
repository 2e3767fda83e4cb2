/** Finds the cause of each lost or requeued job from the operator's requests and the history of the job. Pure. */
import type { Blow } from './blow-log.ts';
import { PeoplesOrders } from './peoples-orders.ts';
import type { JobTimes } from './slurmctld-log.ts';
import type { Run, TrackedJob } from './workload.ts';

export interface Account {
  readonly jobs_run: number;
  /** Not completed, and not because of Slurm: caused by the operator, or unexplained. */
  readonly jobs_lost: number;
  /** Completed, but started more than once: caused by the operator, or unexplained. */
  readonly jobs_requeued_by_operator: number;
  /** Hurt by a kill -9 of slurmctld, which had not yet saved that it had accepted or begun the job; or never sent to a worker by a slurmctld that ended. */
  readonly jobs_lost_by_slurm: number;
}

/** What happened to slurmctld, and what it did before it forgot that. */
export interface SlurmStory {
  /** When it was ended by kill -9, which loses what it had not saved. */
  readonly kills: readonly number[];
  /** When it was ended in an orderly way. */
  readonly restarts: readonly number[];
  /** Every start of a job in its log: polling does not see them all. */
  readonly starts: JobTimes;
  /** Every start that a worker has logged. */
  readonly launches?: JobTimes;
  /** When it was told to end or to read its files again, in its log. */
  readonly endings?: readonly number[];
  /** Jobs with an srun that ended because slurmctld broke the connection, by their output. */
  readonly cutSruns?: ReadonlySet<number>;
  /** Every end that a worker has reported and it has logged. */
  readonly ends: JobTimes;
  /** When Slurm started only one part of a heterogeneous job and requeued it. */
  readonly putBack: JobTimes;
  /** Jobs that it refused when they were submitted, and has a record of. */
  readonly refused: JobTimes;
  /** Every request to cancel a job in its log. */
  readonly cancels?: JobTimes;
  /** Numbers that it gave to two jobs. */
  readonly givenTwice?: JobTimes;
}

/** slurmctld saves its state every few seconds; what it took on after the last save is lost with it. */
const unsaved = 5_000;
/** Times of Slurm are whole seconds, and the last look at a job may be this old. */
const blur = 2_000;
const late = 10_000;
/** A line of a log may get its time this much after it was written. */
const stamped = 500;

type Cause =
  | { readonly kind: 'operator'; readonly blow: Blow }
  /** slurmctld had not saved something about it when it was killed. */
  | { readonly kind: 'unsaved'; readonly kill: number; readonly what: string }
  /** slurmctld ended or read its files again at a moment at which that costs a job (known issues). */
  | { readonly kind: 'ending'; readonly at: number; readonly what: string }
  /** Slurm's own doing, and none that is counted: told apart. */
  | { readonly kind: 'slurm'; readonly why: string }
  /** An order of the script. */
  | { readonly kind: 'people'; readonly why: string }
  | { readonly kind: 'unexplained' };

export function account(
  jobs: readonly TrackedJob[],
  blows: readonly Blow[],
  story: SlurmStory,
  say: (line: string) => void,
  orders: PeoplesOrders = new PeoplesOrders(),
): Account {
  const counts = { jobs_lost: 0, jobs_requeued_by_operator: 0, jobs_lost_by_slurm: 0 };
  for (const job of jobs) {
    const completed = endsAsMeant(job, orders);
    const meant = orders.requeues(job.id) + (story.putBack.get(job.id)?.length ?? 0);
    if (completed && job.restarts <= meant) continue;
    const own = findCause(job, blows, story, orders);
    // What ends one part of a heterogeneous job ends the other.
    const other = own.kind === 'unexplained' ? otherPart(job, jobs) : undefined;
    const cause = other === undefined ? own : findCause(other, blows, story, orders);
    if (cause.kind === 'operator') counts[completed ? 'jobs_requeued_by_operator' : 'jobs_lost'] += 1;
    else if (cause.kind === 'unsaved' || cause.kind === 'ending') counts.jobs_lost_by_slurm += 1;
    // What nothing explains counts as the operator's: a changed configuration ends jobs without a request for any of them.
    else if (cause.kind === 'unexplained') counts[completed ? 'jobs_requeued_by_operator' : 'jobs_lost'] += 1;
    say(
      `job ${job.id}: ${job.end ?? 'open'}, ${job.restarts} restarts, accepted ${time(job.acceptedAt)}, ${job.runs.map(told).join(' then ') || 'never ran'}; by ${describeCause(cause)}`,
    );
  }
  return { jobs_run: jobs.filter((job) => job.runs.length > 0).length, ...counts };
}

function otherPart(job: TrackedJob, jobs: readonly TrackedJob[]): TrackedJob | undefined {
  return job.kind === 'pair'
    ? jobs.find(({ id }) => id === job.id + 1)
    : jobs.find(({ id, kind }) => id === job.id - 1 && kind === 'pair');
}

/** Completed, ended by its time limit if it was submitted for that, or cancelled by a person. */
function endsAsMeant({ id, kind, end }: TrackedJob, orders: PeoplesOrders): boolean {
  if (end === 'COMPLETED') return true;
  if (end === 'TIMEOUT' && kind === 'limit') return true;
  return (end ?? '').includes('CANCELLED') && orders.isCancelled(id);
}

function findCause(
  job: TrackedJob,
  blows: readonly Blow[],
  { kills, restarts, starts, ends, refused, cancels, givenTwice, launches, endings, cutSruns }: SlurmStory,
  orders: PeoplesOrders,
): Cause {
  if (job.end === 'FAILED' && job.runs.length === 0 && refused.has(job.id))
    return { kind: 'slurm', why: 'it was refused when it was submitted: no node satisfied it' };
  const removed = job.runs.find((run) => orders.endedRun(run));
  if (removed !== undefined)
    return { kind: 'people', why: `deleted the NodeSet of ${removed.node} without waiting for its jobs` };
  const asked = orders.isCancelled(job.id) ? (cancels?.get(job.id) ?? []) : [];
  if (asked.some((at) => kills.some((kill) => at <= kill + stamped && kill - at < unsaved)))
    return { kind: 'people', why: 'cancelled it, and a kill -9 of slurmctld right after let it forget that' };
  const { partition, acceptedAt, endedAt } = job;
  const waits = job.runs.every((run) => run.cutBy !== undefined);
  if (orders.endedInPartition({ partition, acceptedAt, endedAt, waits }))
    return { kind: 'people', why: `deleted the NodeSet of partition ${partition} with the jobs in it` };
  // What came after a job had completed did it no harm.
  const cut = job.end === 'COMPLETED' ? job.runs.slice(0, -1) : job.runs;
  const endForgotten = forgottenEnd(job, kills);
  // What Slurm took for running had ended: the operator took the worker before that was forgotten, or when it was cleared up.
  const wasOver = (run: Run, at: number) =>
    endForgotten !== undefined &&
    run === job.runs.at(-1) &&
    (at > run.from + job.seconds * 1000 + late ||
      (ends.get(job.id) ?? []).some((end) => end >= run.from && end < at));
  const struck = (run: Run) =>
    blows.find(({ worker, at }) => run.node === worker && covers(run, at) && !wasOver(run, at));
  const logged = (starts.get(job.id) ?? []).filter((at) => at > job.acceptedAt - blur);
  const begun = [job.acceptedAt, ...logged, ...job.runs.map((run) => run.from)];
  const kill = kills.find(
    (at) => begun.some((since) => since <= at + blur && at - since < unsaved) && isSoonAfter(job, at),
  );
  const unsentOf = (runs: readonly Run[]) =>
    endingBeforeLaunch(runs, launches?.get(job.id) ?? [], endings ?? []);
  // Seen without its node before the operator came: what came after did it no harm.
  const hadLeft = (run: Run, { at }: Blow) =>
    run.cutBy !== undefined && run.cutBy < at && unsentOf([run]) !== undefined;
  const blow = cut
    .filter((run) => !isForgotten(run, kill))
    .flatMap((run) => [struck(run)].filter((one) => one !== undefined && !hadLeft(run, one)))[0];
  if (blow !== undefined) return { kind: 'operator', blow };
  const unsent = unsentOf(cut);
  if (unsent !== undefined)
    return { kind: 'ending', at: unsent, what: 'it had a node and was never sent to it' };
  const reset = cutSruns?.has(job.id) ? endings?.find((at) => cut.some((run) => covers(run, at))) : undefined;
  if (reset !== undefined)
    return { kind: 'ending', at: reset, what: 'its srun lost the connection and ended' };
  if (kill !== undefined) return { kind: 'unsaved', kill, what: 'accepted or begun less than 5 s before' };
  // Its worker had been powered down, which slurmctld lost: it started the job on a node without a pod.
  const leftBefore = (run: Run, killedAt: number) =>
    blows.some(
      ({ worker, at }) =>
        worker === run.node && at < run.from + blur && Math.abs(killedAt - at) < unsaved + blur,
    );
  const unknowing = kills.find((one) => cut.some((run) => run.from > one - blur && leftBefore(run, one)));
  if (unknowing !== undefined)
    return { kind: 'unsaved', kill: unknowing, what: 'that its worker had left forgotten by' };
  // It had begun, which may have been too short to be seen here; slurmctld loses that, starts it again, and slurmd refuses the
  // number that it has already: "Duplicate jobid" is the reason of the node's drain, and the job is held.
  const { held } = job;
  const forgotten = kills.findLast((at) => held !== undefined && at < held.at && at > job.acceptedAt);
  if (held !== undefined && /launch.failed/i.test(held.words) && forgotten !== undefined)
    return {
      kind: 'unsaved',
      kill: forgotten,
      what: `started again (${held.words}), its first start forgotten by`,
    };
  // A worker still had the first job of this number, and refused the second.
  const first = Math.min(...(givenTwice?.get(job.id) ?? []));
  const reused = kills.find((at) => at > first - blur && at < job.acceptedAt && at - first < unsaved + blur);
  if (reused !== undefined)
    return {
      kind: 'unsaved',
      kill: reused,
      what: 'its number was that of a job that still ran, forgotten by',
    };
  if (endForgotten !== undefined)
    return { kind: 'unsaved', kill: endForgotten, what: 'its end forgotten by' };
  const reported = forgottenReport(job, ends.get(job.id) ?? [], kills);
  if (reported !== undefined)
    return {
      kind: 'unsaved',
      kill: reported,
      what: 'its end, which its worker had reported, forgotten by',
    };
  const away = [...kills, ...restarts].find((at) => job.runs.some((run) => covers(run, at)));
  if (job.end === 'TIMEOUT' && away !== undefined)
    return {
      kind: 'slurm',
      why: `it ended while slurmctld, ended at ${time(away)}, was away past its time limit`,
    };
  return { kind: 'unexplained' };
}

/**
 * The kill that made slurmctld forget that the job had ended: it then takes it for running until its node registers again or its time
 * limit is over, and its node for busy. A machine under load begins and ends a job some seconds late.
 */
export function forgottenEnd(job: TrackedJob, kills: readonly number[]): number | undefined {
  const last = job.runs.at(-1);
  if (last === undefined || job.end === 'COMPLETED') return undefined;
  const over = last.from + job.seconds * 1000;
  return kills.find((at) => at > over - blur && at < over + unsaved + late);
}

/** slurmctld logged that a run had completed, was killed before it saved that, and took the job for running until it put it back or was told. */
function forgottenReport(
  { runs, end }: TrackedJob,
  ends: readonly number[],
  kills: readonly number[],
): number | undefined {
  const cut = end === 'COMPLETED' ? runs.slice(0, -1) : runs;
  return kills.find((at) =>
    cut.some(({ from, cutBy = Number.POSITIVE_INFINITY }) =>
      ends.some((over) => over >= from && over <= at + stamped && at - over < unsaved && at < cutBy),
    ),
  );
}

/** No worker has ever begun it, and slurmctld ended or read its files again in the second in which it gave the job a node. */
function endingBeforeLaunch(
  cut: readonly Run[],
  launches: readonly number[],
  endings: readonly number[],
): number | undefined {
  const unsent = cut.filter(
    ({ from, until, cutBy = until }) => !launches.some((at) => at >= from - blur && at <= cutBy),
  );
  return endings.find((at) => unsent.some(({ from }) => from <= at + 1_000 && at - from < blur));
}

function describeCause(cause: Cause): string {
  switch (cause.kind) {
    case 'operator':
      return `the operator: ${cause.blow.what}, ${cause.blow.worker}, ${time(cause.blow.at)}`;
    case 'unsaved':
      return `Slurm: ${cause.what} the kill -9 of slurmctld at ${time(cause.kill)}`;
    case 'ending':
      return `Slurm: slurmctld was told to end or to read its files again at ${time(cause.at)}: ${cause.what}`;
    case 'slurm':
      return `Slurm: ${cause.why}`;
    case 'people':
      return `people: ${cause.why}`;
    case 'unexplained':
      return 'an unknown cause';
  }
}

/** Jobs are polled: a run that was interrupted was so at some time between two polls. */
function covers(run: Run, at: number): boolean {
  return run.from - blur <= at && at <= Math.max(run.until, run.cutBy ?? 0) + blur;
}

/** What a job did minutes after a kill, in another run, is not explained by what slurmctld had forgotten then. */
function isSoonAfter(job: TrackedJob, kill: number): boolean {
  const last = job.runs.at(-1);
  if (job.end === 'COMPLETED' || last === undefined || last.from <= kill + blur) return true;
  return (job.endedAt ?? last.until) - kill < 120_000;
}

/** Slurm did not know it after the kill, and could not report that its node was busy. */
function isForgotten(run: Run, kill: number | undefined): boolean {
  return kill !== undefined && run.from <= kill + blur && run.until <= kill + blur;
}

const time = (at: number) => new Date(at).toISOString().slice(11, 23);
const told = (run: Run) => `${run.node} ${time(run.from)}–${time(run.until)}`;
