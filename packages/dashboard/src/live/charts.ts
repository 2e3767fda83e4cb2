/** What the charts show. */

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
