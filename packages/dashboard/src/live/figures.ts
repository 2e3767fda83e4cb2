/** The figures of a cluster: now, over a day, and how old they are. */
import type { NodeUse } from './node-row.ts';

/** At one moment. */
export interface Figures {
  readonly nodes: Readonly<Record<NodeUse, number>>;
  readonly cpus: { readonly all: number; readonly used: number };
  readonly gpus: { readonly all: number; readonly used: number };
  readonly jobs: { readonly running: number; readonly pending: number; readonly other: number };
  /** Pending jobs by Slurm's reason, the most frequent first. */
  readonly waiting: readonly { readonly reason: string; readonly jobs: number }[];
}

/** `null` where Slurm was unknown: the charts show a gap, never a zero. */
export interface Charts {
  readonly at: readonly number[];
  readonly series: Readonly<Record<ChartName, readonly (number | null)[]>>;
}

export const chartNames = [
  'nodesBusy',
  'nodesIdle',
  'nodesDrained',
  'nodesDown',
  'nodesAsleep',
  'jobsRunning',
  'jobsPending',
  'gpusUsed',
  'gpusAll',
  'cpusUsed',
  'cpusAll',
] as const;
export type ChartName = (typeof chartNames)[number];

/** What a tab knows beside the nodes: sent when its stream opens, and asked for where no stream can be had. */
export interface LiveState {
  /** Versions of the tables. */
  readonly nodes: number;
  readonly jobs: number;
  readonly figures: Figures;
  readonly freshness: FreshnessAt;
}

/** With the time of the server: the clock of a browser may be wrong. */
export interface FreshnessAt {
  readonly nodes: Freshness;
  readonly jobs: Freshness;
  readonly now: number;
}

/** How old a part of the page is. */
export type Freshness =
  | { readonly kind: 'known'; readonly at: number }
  | {
      readonly kind: 'unknown';
      readonly since: number;
      /** Slurm's own words, without secrets: errors of the client never contain a token. */
      readonly why: string;
      /** When the rows that are still shown were read; `undefined` if there are none. */
      readonly lastAt: number | undefined;
    };
