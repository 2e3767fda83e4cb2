/** The figures of the last 24 hours, a minute apart. Bounded: 1,440 moments. Without a Prometheus this is all there is, and it begins with the process. */

import { type ChartName, type Charts, chartNames, type Figures } from '../live/figures.ts';
import type { NodeUse } from '../live/node-row.ts';

const mostMoments = 24 * 60;

export class History {
  #moments: { readonly at: number; readonly values: readonly (number | null)[] }[] = [];

  add(at: number, figures: Figures | undefined): void {
    this.#moments.push({
      at,
      values: figures === undefined ? chartNames.map(() => null) : valuesOf(figures),
    });
    if (this.#moments.length > mostMoments) this.#moments = this.#moments.slice(-mostMoments);
  }

  charts(): Charts {
    const series = Object.fromEntries(
      chartNames.map((name, place) => [name, this.#moments.map(({ values }) => values[place] ?? null)]),
    ) as Record<ChartName, (number | null)[]>;
    return { at: this.#moments.map(({ at }) => at), series };
  }
}

function valuesOf({ nodes, jobs, gpus, cpus }: Figures): readonly number[] {
  const sum = (...uses: readonly NodeUse[]) => uses.reduce((total, use) => total + nodes[use], 0);
  const values: Readonly<Record<ChartName, number>> = {
    nodesBusy: sum('allocated', 'mixed'),
    nodesIdle: sum('idle'),
    nodesDrained: sum('draining', 'drained', 'maintenance'),
    nodesDown: sum('down', 'unresponsive', 'unknown'),
    nodesAsleep: sum('asleep', 'powering'),
    jobsRunning: jobs.running,
    jobsPending: jobs.pending,
    gpusUsed: gpus.used,
    gpusAll: gpus.all,
    cpusUsed: cpus.used,
    cpusAll: cpus.all,
  };
  return chartNames.map((name) => values[name]);
}
