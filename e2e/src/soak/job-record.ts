/** Slurm's own account of jobs: what slurmctld wrote to the file of jobcomp/filetxt, one line for each end of a job. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface JobRecord {
  readonly id: number;
  readonly state: string;
  readonly partition: string;
  readonly nodes: string;
  readonly from: number;
  readonly until: number;
}

/** Collects the lines of a stage: the file goes with the container of slurmctld, so look often. */
export class JobRecords {
  readonly #pattern: string;
  readonly #lines = new Set<string>();

  constructor(directory: string) {
    this.#pattern = join(directory, 'cluster/nodes/*/containers/*/upper/var/spool/slurmctld/jobs.txt');
  }

  collect(): void {
    for (const file of globSync(this.#pattern))
      for (const line of read(file).split('\n')) if (line.startsWith('JobId=')) this.#lines.add(line);
  }

  all(): JobRecord[] {
    this.collect();
    return parseJobRecords([...this.#lines].join('\n'));
  }
}

/** It may go between the look and the read. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

export function parseJobRecords(text: string): JobRecord[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('JobId='))
    .map((line) => {
      const field = (name: string) => new RegExp(`\\b${name}=(\\S*)`).exec(line)?.[1] ?? '';
      // Times are local to slurmctld, whose containers have none: UTC.
      const time = (name: string) => Date.parse(`${field(name)}Z`) || 0;
      return {
        id: Number(field('JobId')),
        state: field('JobState'),
        partition: field('Partition'),
        nodes: field('NodeList'),
        from: time('StartTime'),
        until: time('EndTime'),
      };
    });
}
