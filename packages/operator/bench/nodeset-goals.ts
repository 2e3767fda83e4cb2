/** What the figures of the NodeSet benchmark should be, and the table that says whether they are. */

import { Figures, type Goal } from '../../../tools/bench/figures.ts';

export interface Figure {
  readonly value: number;
  /** The machine's load average when it was taken; undefined where it was computed from others. */
  readonly load?: number;
}

export interface FigureGoal {
  readonly key: string;
  readonly goal: Goal;
  readonly unit: string;
}

/** Adds the ratios that goals are about to the figures. */
export function goalsOf(figures: Map<string, Figure>, sizes: readonly number[]): FigureGoal[] {
  const ratio = (key: string, a: string, b: string) => {
    const [above, below] = [figures.get(a), figures.get(b)];
    if (above !== undefined && below !== undefined)
      figures.set(key, { value: Number((above.value / below.value).toFixed(2)) });
  };
  for (const size of sizes)
    ratio(`scale_out_ratio_${size}`, `scale_out_seconds_${size}`, `raw_create_seconds_${size}`);
  ratio('scale_out_growth', 'scale_out_seconds_5000', 'scale_out_seconds_1000');
  ratio('raw_create_growth', 'raw_create_seconds_5000', 'raw_create_seconds_1000');
  ratio('rollout_growth', 'rollout_seconds_5000', 'rollout_seconds_1000');
  const goals: FigureGoal[] = [
    ...sizes.flatMap((size) => [
      { key: `scale_out_ratio_${size}`, goal: 1.5, unit: '× the floor' },
      { key: `writes_per_worker_${size}`, goal: 4, unit: 'writes' },
    ]),
    { key: 'drained_to_deleted_p99_ms_1000', goal: { below: 2000 }, unit: 'ms' },
    { key: 'drained_to_deleted_p99_ms_5000', goal: { below: 3500 }, unit: 'ms' },
    { key: 'idle_cpu_percent_5000', goal: { below: 3 }, unit: '% of a core' },
    { key: 'idle_rss_mb_5000', goal: { below: 200 }, unit: 'MB' },
    { key: 'idle_writes_5000', goal: 0, unit: 'writes' },
    { key: 'scale_out_growth', goal: 6, unit: '× from 1,000 to 5,000' },
    { key: 'rollout_growth', goal: 6, unit: '× from 1,000 to 5,000' },
  ];
  return goals.filter(({ key }) => figures.has(key));
}

/** All figures once more, with their goals and the load at that time, and as the last line the same as JSON. */
export function printFigures(
  bench: string,
  figures: ReadonlyMap<string, Figure>,
  goals: readonly FigureGoal[],
  about: Readonly<Record<string, string | number>>,
): void {
  const byKey = new Map(goals.map((goal) => [goal.key, goal]));
  const table = new Figures();
  console.log();
  for (const [key, { value, load }] of figures) {
    const goal = byKey.get(key);
    const unit = goal === undefined ? '' : ` (${goal.unit})`;
    const beside = load === undefined ? '' : `, load ${load.toFixed(1)}`;
    table.note(`${key}${unit}${beside}`, key, value, goal?.goal);
  }
  const loads = [...figures.values()].flatMap(({ load }) => load ?? []);
  const loadMost = Number(Math.max(0, ...loads).toFixed(1));
  table.printJson(bench, { ...about, load_average_most: loadMost, goals_met: table.allMet });
}
