/** The figures of a cluster at one moment. */
import type { NodeUse } from './node-row.ts';

export interface Figures {
  readonly nodes: Readonly<Record<NodeUse, number>>;
  readonly cpus: { readonly all: number; readonly used: number };
  readonly gpus: { readonly all: number; readonly used: number };
  readonly jobs: { readonly running: number; readonly pending: number; readonly other: number };
  /** Pending jobs by Slurm's reason, the most frequent first. */
  readonly waiting: readonly { readonly reason: string; readonly jobs: number }[];
}
