/** What the figures of the NodeSet benchmark should be, and the table that says whether they are. */

export interface Figure {
  readonly value: number;
  /** The machine's load average when it was taken; undefined where it was computed from others. */
  readonly load?: number;
}

export interface Goal {
  readonly key: string;
  readonly most: number;
  /** The goal itself is too much already. */
  readonly below?: boolean;
  readonly unit: string;
}

/** Adds the ratios that goals are about to the figures. */
export function goalsOf(figures: Map<string, Figure>, sizes: readonly number[]): Goal[] {
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
  const goals: Goal[] = [
    ...sizes.flatMap((size) => [
      { key: `scale_out_ratio_${size}`, most: 1.5, unit: '× the floor' },
      { key: `writes_per_worker_${size}`, most: 4, unit: 'writes' },
    ]),
    { key: 'drained_to_deleted_p99_ms_1000', most: 2000, below: true, unit: 'ms' },
    { key: 'drained_to_deleted_p99_ms_5000', most: 3500, below: true, unit: 'ms' },
    { key: 'idle_cpu_percent_5000', most: 3, below: true, unit: '% of a core' },
    { key: 'idle_rss_mb_5000', most: 200, below: true, unit: 'MB' },
    { key: 'idle_writes_5000', most: 0, unit: 'writes' },
    { key: 'scale_out_growth', most: 6, unit: '× from 1,000 to 5,000' },
    { key: 'rollout_growth', most: 6, unit: '× from 1,000 to 5,000' },
  ];
  return goals.filter(({ key }) => figures.has(key));
}

/** A table, and as the last line the same as JSON. */
export function printFigures(
  figures: ReadonlyMap<string, Figure>,
  goals: readonly Goal[],
  about: Readonly<Record<string, string | number>>,
): void {
  const byKey = new Map(goals.map((goal) => [goal.key, goal]));
  const result: Record<string, string | number | boolean> = { ...about };
  console.log(
    `\n${'figure'.padEnd(36)}${'measured'.padStart(10)}${'load'.padStart(7)}  ${'goal'.padEnd(32)}met`,
  );
  for (const [key, { value, load }] of figures) {
    const goal = byKey.get(key);
    const met = goal !== undefined && (goal.below ? value < goal.most : value <= goal.most);
    result[key] = value;
    if (goal !== undefined) result[`${key}_met`] = met;
    const told = goal === undefined ? '' : `${goal.below ? '<' : '≤'} ${goal.most} ${goal.unit}`;
    console.log(
      `${key.padEnd(36)}${String(value).padStart(10)}${(load?.toFixed(1) ?? '').padStart(7)}  ${told.padEnd(32)}${goal === undefined ? '' : met ? 'yes' : 'NO'}`,
    );
  }
  const loads = [...figures.values()].flatMap(({ load }) => load ?? []);
  result['load_average_most'] = Number(Math.max(0, ...loads).toFixed(1));
  result['goals_met'] = goals.every(({ key }) => result[`${key}_met`]);
  console.log(JSON.stringify(result));
}
