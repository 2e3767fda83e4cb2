/** Which jobs say in their output that an srun lost its connection to slurmctld: Slurm 24.11 then ends it, and the job with it (known issue). */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Reads the outputs of a stage: they go with the container of their worker, so look often. */
export class CutSruns {
  readonly jobs = new Set<number>();
  readonly #pattern: string;

  constructor(directory: string) {
    this.#pattern = join(directory, 'cluster/nodes/*/containers/*/upper/tmp/slurm-*.out');
  }

  collect(): void {
    for (const file of globSync(this.#pattern)) {
      const id = Number(/slurm-(\d+)\.out$/.exec(file)?.[1]);
      if (!Number.isNaN(id) && isCut(read(file))) this.jobs.add(id);
    }
  }
}

export const isCut = (output: string): boolean => /^srun: error: .*: Connection reset by peer$/m.test(output);

/** It may go between the look and the read. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
