/** What every slurmctld of a stage has written: it knows of starts that a later one, after a kill -9, has forgotten. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Job number → when slurmctld began it. */
export type JobStarts = ReadonlyMap<number, readonly number[]>;

/** Of all containers that have run on the stage, until it is disposed of. */
export function slurmctldLog(directory: string): string {
  const files = globSync(join(directory, 'cluster/nodes/*/logs/*/slurmctld/*.log'));
  return files.map((file) => readFileSync(file, 'utf8')).join('\n');
}

/** `sched: Allocate JobId=147 NodeList=w-1`, and from the backfill scheduler `Started JobId=147 in all on w-1`. */
export function jobStarts(log: string): JobStarts {
  const starts = new Map<number, number[]>();
  for (const [, time = '', id = ''] of log.matchAll(/^(\S+Z) .*(?:Allocate|Started) JobId=(\d+) /gm)) {
    const at = Date.parse(time.replace(/(\.\d{3})\d*Z$/, '$1Z'));
    starts.set(Number(id), [...(starts.get(Number(id)) ?? []), at]);
  }
  return starts;
}
