/** What every slurmctld of a stage has written: it knows of starts that a later one, after a kill -9, has forgotten. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Job number → times. */
export type JobTimes = ReadonlyMap<number, readonly number[]>;

/** Of all containers that have run on the stage, until it is disposed of. */
export function slurmctldLog(directory: string): string {
  return logOf('slurmctld', directory);
}

/** What every slurmd has written: of a start that slurmctld logged right before a kill -9, only the worker tells. */
export function slurmdLog(directory: string): string {
  return logOf('slurmd', directory);
}

function logOf(container: string, directory: string): string {
  const files = globSync(join(directory, `cluster/nodes/*/logs/*/${container}/*.log`));
  return files.map((file) => readFileSync(file, 'utf8')).join('\n');
}

/**
 * `sched: Allocate JobId=147 NodeList=w-1`, from the backfill scheduler `Started JobId=147 in all on w-1`, and from a worker
 * `Launching batch job 147 for UID 401` (24.11) or `Launching batch JobId=147 SLUID=… for UID 401`.
 */
export function jobStarts(log: string): JobTimes {
  return timesOf(
    log,
    /^(\S+Z) .*(?:(?:Allocate|Started|Launching batch) JobId=|Launching batch job )(?:\d+[+_][^(\s]+\()?(\d+)\)? /gm,
  );
}

/** `Launching batch JobId=147 …`: a worker got the job and begins it. */
export function jobLaunches(log: string): JobTimes {
  return timesOf(log, /^(\S+Z) .*Launching batch (?:JobId=|job )(?:\d+[+_][^(\s]+\()?(\d+)\)? /gm);
}

/** When slurmctld was told to end in an orderly way, or to read its files again, for which it executes its program again. */
export function slurmctldEndings(log: string): number[] {
  const told = /^(\S+Z) .*(?:Reconfigure signal \(SIGHUP\)|Terminate signal SIGTERM) received$/gm;
  return [...log.matchAll(told)].map(([, time = '']) => moment(time));
}

/**
 * `_job_complete: JobId=147 WEXITSTATUS 0`: its worker has reported that it completed. A part of a job: `JobId=70+1(71)`, `JobId=10_0(15)`.
 * `Time limit exhausted for JobId=147`: slurmctld ends it.
 */
export function jobEnds(log: string): JobTimes {
  const ended =
    /^(\S+Z) .*(?:_job_complete: |Time limit exhausted for )JobId=(?:\d+[+_][^(\s]+\()?(\d+)\)?(?: WEXITSTATUS 0)?$/gm;
  return timesOf(log, ended);
}

/** `_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId=229 uid 401`: it was asked to cancel this job. */
export function cancelRequests(log: string): JobTimes {
  return timesOf(log, /^(\S+Z) .*REQUEST_KILL_JOB JobId=(\d+)/gm);
}

/** `Deallocate JobId=55+0(55) due to hetjob start failure`: Slurm began one part of a heterogeneous job, found no place for the other, and requeued it. */
export function pairsPutBack(log: string): JobTimes {
  return timesOf(log, /^(\S+Z) .*Deallocate JobId=(\d+)\S* due to hetjob start failure/gm);
}

/**
 * Jobs that Slurm refused at their submission because no node of the partition satisfied them: it keeps a record of those, FAILED.
 * A job that it accepted is not among them, whatever it logs of it later.
 */
export function refusedJobs(log: string): JobTimes {
  const accepted = timesOf(log, /^(\S+Z) .*_slurm_rpc_submit_batch(?:_het)?_job: JobId=(\d+)/gm);
  const refused = timesOf(log, /^(\S+Z) .*No nodes satisfy JobId=(\d+)\S* requirements in partition/gm);
  return new Map([...refused].filter(([id]) => !accepted.has(id)));
}

/** Numbers that Slurm gave to a second job, because a kill -9 made it forget the first: number → when each was accepted. */
export function numbersGivenTwice(log: string): JobTimes {
  const accepted = timesOf(log, /^(\S+Z) .*_slurm_rpc_submit_batch(?:_het)?_job: JobId=(\d+)/gm);
  return new Map([...accepted].filter(([, times]) => times.length > 1));
}

function timesOf(log: string, pattern: RegExp): JobTimes {
  const times = new Map<number, number[]>();
  for (const [, time = '', id = ''] of log.matchAll(pattern)) {
    const at = moment(time);
    times.set(Number(id), [...(times.get(Number(id)) ?? []), at]);
  }
  return times;
}

const moment = (time: string): number => Date.parse(time.replace(/(\.\d{3})\d*Z$/, '$1Z'));
