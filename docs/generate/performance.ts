/** The table and the plots of docs/performance.md, from the committed figures. Pure. */
import { plot } from '../../tools/bench/plot.ts';

export interface Figures {
  readonly release: string;
  readonly benches: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const sizes = [100, 1000, 5000] as const;

/** What is shown of each size, with the figure that the first release had. */
const rows = [
  { key: 'scale_out_seconds', label: 'Scale-out from nothing, until all pods run', unit: 's' },
  { key: 'raw_create_seconds', label: 'the same pods created without an operator (the floor)', unit: 's' },
  { key: 'writes_per_worker', label: 'writes to Kubernetes and Slurm per worker', unit: '' },
  {
    key: 'drained_to_deleted_p50_ms',
    label: 'Scale-in: a job ends → its pod is deleted, median',
    unit: 'ms',
  },
  { key: 'drained_to_deleted_p99_ms', label: '99th percentile', unit: 'ms' },
  { key: 'scale_in_slurm_mb', label: 'read from slurmrestd while a tenth is scaled in', unit: 'MB' },
  { key: 'rollout_seconds', label: 'Rollout, a quarter at a time', unit: 's' },
  { key: 'rollout_slurm_mb', label: 'read from slurmrestd in that rollout', unit: 'MB' },
  { key: 'idle_cpu_percent', label: 'Idle: CPU, of one core', unit: '%' },
  { key: 'idle_rss_mb', label: 'memory', unit: 'MB' },
] as const;

const named = (size: number): string => size.toLocaleString('en-US');

export function scaleTable({ benches }: Figures): string {
  const figures = benches['nodeset'] ?? {};
  const lines = rows.map(({ key, label, unit }) => {
    const cells = sizes.map((size) => {
      const value = figures[`${key}_${size}`];
      return value === undefined ? '–' : `${value} ${unit}`.trim();
    });
    return `| ${label} | ${cells.join(' | ')} |`;
  });
  return [
    `| | ${sizes.map((size) => `${named(size)} workers`).join(' | ')} |`,
    `|---|---|---|---|`,
    ...lines,
  ].join('\n');
}

/** Path below docs/performance → picture. */
export function plots({ release, benches }: Figures): ReadonlyMap<string, string> {
  const now = benches['nodeset'] ?? {};
  const before = benches['nodeset-before'] ?? {};
  const compared = (key: string, title: string, unit: string) =>
    plot({
      title,
      unit,
      groups: sizes.flatMap((size) => {
        const bars = [
          { label: '(before)', value: before[`${key}_${size}`] },
          { label: `(${release})`, value: now[`${key}_${size}`] },
        ].flatMap(({ label, value }) => (value === undefined ? [] : [{ label, value }]));
        return bars.length === 0 ? [] : [{ label: `${named(size)} workers`, bars }];
      }),
    });
  return new Map([
    [
      'scale-in-latency.svg',
      compared('drained_to_deleted_p99_ms', 'A job ends → its worker is deleted, 99th percentile', 'ms'),
    ],
  ]);
}
