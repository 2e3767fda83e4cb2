/** A job as the list shows it. Everything else is read from Slurm when a user opens the job. */
export interface JobRow {
  /** Its id in `jobs/state`. */
  readonly key: string;
  /** What users type: `43`, or `40_7` for task 7 of array 40. */
  readonly id: string;
  /** The number of the array that it belongs to; 0 for none. */
  readonly array: number;
  readonly name: string;
  readonly user: string;
  readonly account: string;
  readonly partition: string;
  readonly qos: string;
  readonly state: string;
  /** Why it is pending, or how it ended. */
  readonly reason: string;
  /** Hostlist. */
  readonly nodes: string;
  readonly nodeCount: number;
  readonly cpus: number;
  readonly gpus: number;
  readonly priority: number;
  readonly submittedAt: number;
  /** For a pending job Slurm's estimate; 0 if there is none. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Minutes; -1 for no limit, 0 for not known. */
  readonly timeLimit: number;
}

/** The state without flags such as COMPLETING. */
export const baseState = (state: string): string => state.split('+')[0] ?? '';

export interface FoldedJob extends JobRow {
  /** How many tasks of an array this row stands for, by state; `undefined` for a job of its own. */
  readonly tasks: Readonly<Record<string, number>> | undefined;
}
