/** By whose hand a job was hurt: the operator's requests on one side, what became of each job on the other. */
import { readFileSync } from 'node:fs';
import type { ApiServer } from '@slurm-operator/apiserver';
import type { Run, TrackedJob } from './workload.ts';

/** Something the operator did to a worker that would end the work on it. */
export interface Blow {
  readonly what: 'pod deleted' | 'pod evicted' | 'node set DOWN';
  /** The worker; pod and Slurm node have one name here. */
  readonly worker: string;
  readonly at: number;
}

/** Collects the deletes and evictions of one user from the audit log, which forgets what is old. */
export class BlowLog {
  readonly #server: ApiServer;
  readonly #user: string;
  readonly #operatorLog: string;
  readonly #pods: Blow[] = [];
  #lastId = 0;

  constructor(server: ApiServer, user: string, operatorLog: string) {
    this.#server = server;
    this.#user = user;
    this.#operatorLog = operatorLog;
  }

  /** Call it often enough that the audit log has not forgotten. */
  collect(): void {
    const news = this.#server.audit.find(({ id }) => id > this.#lastId);
    for (const { user, resource, subresource, verb, status, name, time } of news) {
      if (user !== this.#user || resource !== 'pods' || status >= 300) continue;
      if (verb === 'delete') this.#pods.push({ what: 'pod deleted', worker: name, at: time });
      if (subresource === 'eviction') this.#pods.push({ what: 'pod evicted', worker: name, at: time });
    }
    this.#lastId = news.at(-1)?.id ?? this.#lastId;
  }

  /** Slurm keeps no audit log: what was set DOWN stands in the operator's own. */
  all(): Blow[] {
    this.collect();
    const downs = readFileSync(this.#operatorLog, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"set-down"'))
      .map((line) => JSON.parse(line) as { time: number | string; action?: { slurmName?: string } })
      .map(({ time, action }) => ({
        what: 'node set DOWN' as const,
        worker: action?.slurmName ?? '',
        at: new Date(time).getTime(),
      }));
    return [...this.#pods, ...downs];
  }
}

export interface Account {
  readonly jobs_run: number;
  /** Not completed, and not Slurm's doing: by the operator's hand, or by nobody knows whose. */
  readonly jobs_lost: number;
  /** Completed, but begun more than once by the operator's hand. */
  readonly jobs_requeued_by_operator: number;
  /** Hurt, and accepted or begun so shortly before a kill -9 of slurmctld that it had not saved that. */
  readonly jobs_lost_by_slurm: number;
}

/** slurmctld saves its state every few seconds; what it took on after the last save is lost with it. */
const unsaved = 5_000;
/** Times of Slurm are whole seconds, and the last look at a job may be this old. */
const blur = 2_000;

export function account(
  jobs: readonly TrackedJob[],
  blows: readonly Blow[],
  kills: readonly number[],
  say: (line: string) => void,
): Account {
  let lost = 0;
  let requeued = 0;
  let bySlurm = 0;
  for (const job of jobs) {
    const completed = job.end === 'COMPLETED';
    if (completed && job.restarts === 0) continue;
    // What came after a job had completed did it no harm.
    const cut = completed ? job.runs.slice(0, -1) : job.runs;
    const blow = blows.find(({ worker, at }) => cut.some((run) => run.node === worker && covers(run, at)));
    const begun = [job.acceptedAt, ...job.runs.map((run) => run.from)];
    const kill = kills.find((at) => begun.some((since) => since <= at + blur && at - since < unsaved));
    if (blow !== undefined && completed) requeued += 1;
    else if (blow !== undefined) lost += 1;
    else if (kill !== undefined) bySlurm += 1;
    else if (!completed) lost += 1;
    const why =
      blow !== undefined
        ? `the operator: ${blow.what}, ${blow.worker}, ${time(blow.at)}`
        : kill !== undefined
          ? `Slurm: accepted or begun less than 5 s before the kill -9 of slurmctld at ${time(kill)}`
          : 'nobody known';
    say(
      `job ${job.id}: ${job.end ?? 'open'}, ${job.restarts} restarts, accepted ${time(job.acceptedAt)}, ${job.runs.map(told).join(' then ') || 'never ran'}; by ${why}`,
    );
  }
  return {
    jobs_run: jobs.length,
    jobs_lost: lost,
    jobs_requeued_by_operator: requeued,
    jobs_lost_by_slurm: bySlurm,
  };
}

function covers(run: Run, at: number): boolean {
  return run.from - blur <= at && at <= run.until + blur;
}

const time = (at: number) => new Date(at).toISOString().slice(11, 23);
const told = (run: Run) => `${run.node} ${time(run.from)}–${time(run.until)}`;
