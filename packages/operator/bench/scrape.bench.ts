/**
 * `make bench BENCH=scrape`: what a scrape of the metrics costs with 5,000 nodes and 2,000 running jobs. NODES, JOBS, GPUS (of each job)
 * and SCRAPES change it. The goals: at most 300 ms and 60,000 series.
 */
import { loadavg } from 'node:os';
import { exposed } from '../testing/metrics-stage.ts';
import { type Figure, type FigureGoal, printFigures } from './nodeset-goals.ts';

const numberOf = (name: string, standard: number): number => Number(process.env[name] ?? standard);
const size = { nodes: numberOf('NODES', 5_000), jobs: numberOf('JOBS', 2_000), gpus: numberOf('GPUS', 8) };
const scrapes = numberOf('SCRAPES', 30);

const goals: FigureGoal[] = [
  { key: 'scrape_ms', goal: { below: 300 }, unit: 'ms' },
  { key: 'scrape_max_ms', goal: { below: 300 }, unit: 'ms' },
  { key: 'series', goal: { below: 60_000 }, unit: 'series' },
];

console.log(`${size.nodes} nodes, ${size.jobs} running jobs of ${size.gpus} GPUs`);
await using stage = await exposed(`n[0-${size.nodes - 1}]`);
await stage.run({ jobs: size.jobs, gpus: size.gpus, pending: 500 });
const times: number[] = [];
let text = '';
const cpuBefore = process.cpuUsage();
for (let scrape = 0; scrape < scrapes; scrape += 1) {
  const began = performance.now();
  text = await stage.registry.metrics();
  times.push(performance.now() - began);
}
const cpu = process.cpuUsage(cpuBefore);
const sorted = times.toSorted((a, b) => a - b);
const load = loadavg()[0] ?? 0;
const figures = new Map<string, Figure>(
  Object.entries({
    scrape_ms: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN,
    scrape_max_ms: sorted.at(-1) ?? Number.NaN,
    // On a busy machine this is what the scrape itself took, with what the simulated Slurm and the polls took meanwhile.
    scrape_cpu_ms: (cpu.user + cpu.system) / 1000 / scrapes,
    series: text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length,
    scrape_mb: Buffer.byteLength(text) / 2 ** 20,
  }).map(([key, value]) => [key, { value: Number(value.toFixed(2)), load }]),
);
printFigures('scrape', figures, goals, size);
