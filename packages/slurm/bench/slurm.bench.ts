/**
 * What it costs to follow a big Slurm, and how fast news travels. The simulator (section by section as slow and as large as
 * the real slurmrestd) and a naive poller run in processes of their own; figures of CPU, memory and stalls are this process's.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Figures } from '../../../tools/bench/figures.ts';
import { SlurmClient } from '../src/client.ts';
import { staticToken } from '../src/tokens/token-provider.ts';
import { SlurmWatch } from '../src/watch/slurm-watch.ts';
import { Simulated } from './simulated.ts';
import { StallMeter } from './stall-meter.ts';

const minutes = Number(process.env['BENCH_MINUTES'] ?? 2);
const changes = Number(process.env['BENCH_CHANGES'] ?? 120);

using stalls = new StallMeter();
let rss = 0;
const sampler = setInterval(() => {
  rss = Math.max(rss, process.memoryUsage.rss());
}, 100);

interface Phase {
  readonly ratio: number;
  readonly perMinute: number;
  readonly naivePerMinute: number;
  readonly startBytes: number;
  readonly cpu: number;
  readonly requests: Readonly<Record<string, number>>;
}

async function follow(simulated: Simulated): Promise<AsyncDisposable & { readonly watch: SlurmWatch }> {
  const client = new SlurmClient({ server: simulated.server, token: staticToken(simulated.token) });
  const watch = new SlurmWatch({ client });
  watch.start();
  await Promise.all([
    watch.nodes.listSince(0, { timeoutMs: 60_000 }),
    watch.jobs.listSince(0, { timeoutMs: 60_000 }),
  ]);
  return {
    watch,
    [Symbol.asyncDispose]: async () => {
      await watch.stop();
      client.close();
    },
  };
}

/** Bytes per minute of the watch and of the naive poller, side by side, when idle. */
async function traffic(pingEveryMs: number): Promise<Phase> {
  await using simulated = await Simulated.start({ nodes: 5000, jobs: 5000, pingEveryMs });
  stalls.skip(); // starting a process is the benchmark's own doing
  await using followed = await follow(simulated);
  const startBytes = (await simulated.bytes('watch')).bytes;
  tellStall(`first lists of 5,000 nodes and 5,000 jobs, ${pingEveryMs === 0 ? 'frozen' : 'with pings'}`);
  simulated.startNaive();
  stalls.skip();
  {
    // Slurm counts changes in seconds: a second list makes the beginning look like any other moment.
    using _fast = followed.watch.pollFast();
    await pause(4000);
  }
  await pause(6000);
  await simulated.bytes('watch');
  await simulated.bytes('naive');
  const cpuBefore = process.cpuUsage();
  const began = performance.now();
  await pause(minutes * 60_000);
  const elapsed = (performance.now() - began) / 60_000;
  const cpu = process.cpuUsage(cpuBefore);
  const [ours, naive] = [await simulated.bytes('watch'), await simulated.bytes('naive')];
  return {
    perMinute: ours.bytes / elapsed,
    naivePerMinute: naive.bytes / elapsed,
    ratio: ours.bytes / naive.bytes,
    startBytes,
    cpu: ((cpu.user + cpu.system) / 1e6 / (elapsed * 60)) * 100,
    requests: ours.requests,
  };
}

/** From a change in Slurm to the event here, while something waits. */
async function latency(
  nodes: number,
): Promise<{ readonly p50: number; readonly p99: number; readonly cpu: number }> {
  await using simulated = await Simulated.start({ nodes, jobs: nodes, pingEveryMs: 20_000 });
  stalls.skip();
  await using followed = await follow(simulated);
  using _fast = followed.watch.pollFast();
  const waiting = new Map<string, (at: number) => void>();
  followed.watch.nodes.subscribe(({ changes: news }) => {
    const now = Date.now();
    for (const change of news)
      if (change.type === 'changed' && change.facets.has('comment')) waiting.get(change.node.comment)?.(now);
  });
  const cpuBefore = process.cpuUsage();
  const began = performance.now();
  const seen: Promise<number>[] = [];
  for (let index = 0; index < changes; index += 1) {
    await pause(100 + Math.random() * 600);
    const comment = `change ${index}`;
    const arrival = new Promise<number>((resolve) => waiting.set(comment, resolve));
    // Each change on a node of its own: two on one node between two lists are one change, and the first is never seen.
    const at = await simulated.change(`n${(index * 37) % nodes}`, comment);
    seen.push(arrival.then((now) => now - at));
  }
  const lost = pause(60_000, undefined, { ref: false }).then(() => {
    throw new Error('a change was not seen within a minute');
  });
  const took = (await Promise.race([Promise.all(seen), lost])).toSorted((a, b) => a - b);
  const cpu = process.cpuUsage(cpuBefore);
  const quantile = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0;
  const elapsed = (performance.now() - began) / 1000;
  return { p50: quantile(0.5), p99: quantile(0.99), cpu: ((cpu.user + cpu.system) / 1e6 / elapsed) * 100 };
}

const mb = (bytes: number) => `${(bytes / 1e6).toFixed(2)} MB`;
console.log(`5,000 nodes, 5,000 jobs; ${minutes} minutes of traffic per phase, ${changes} changes per size`);
/** The longest stall of a phase, told when it is over. */
const longest = { heldMs: 0, wallMs: 0 };
function tellStall(phase: string): void {
  const { heldMs, wallMs } = stalls.take();
  console.log(`longest stall, ${phase}: ${heldMs.toFixed(1)} ms (${wallMs.toFixed(1)} with waits for a CPU)`);
  longest.heldMs = Math.max(longest.heldMs, heldMs);
  longest.wallMs = Math.max(longest.wallMs, wallMs);
}

const frozen = await traffic(0);
tellStall('frozen');
console.log('frozen:', frozen.requests);
const live = await traffic(20_000);
tellStall('with pings');
console.log('with pings:', live.requests);
const small = await latency(1000);
tellStall('events, 1,000 nodes');
const large = await latency(5000);
tellStall('events, 5,000 nodes');
clearInterval(sampler);

const figures = {
  idle_bytes_ratio: round(frozen.ratio, 4),
  live_bytes_ratio: round(live.ratio, 4),
  event_p99_ms_1000: round(small.p99),
  event_p99_ms_5000: round(large.p99),
  cpu_percent: round(live.cpu, 2),
  rss_mb: round(rss / 1e6),
  max_stall_ms: round(longest.heldMs, 1),
  max_stall_wall_ms: round(longest.wallMs, 1),
};
const goals: Partial<Record<keyof typeof figures, number>> = {
  idle_bytes_ratio: 0.02,
  live_bytes_ratio: 0.15,
  event_p99_ms_1000: 1500,
  event_p99_ms_5000: 2500,
  max_stall_ms: 100,
};
const about: Record<keyof typeof figures, string> = {
  idle_bytes_ratio: `frozen: ${mb(frozen.perMinute)} a minute beside ${mb(frozen.naivePerMinute)} (first lists: ${mb(frozen.startBytes)})`,
  live_bytes_ratio: `node pings: ${mb(live.perMinute)} a minute beside ${mb(live.naivePerMinute)}`,
  event_p99_ms_1000: `change to event, 1,000 nodes, something waits (median ${round(small.p50)})`,
  event_p99_ms_5000: `change to event, 5,000 nodes, something waits (median ${round(large.p50)})`,
  cpu_percent: `of one core, 5,000 nodes with pings, nothing waits (${round(large.cpu, 1)} while something does)`,
  rss_mb: 'most memory seen in any phase',
  max_stall_ms: 'longest time this process held its event loop, first full lists included',
  max_stall_wall_ms: 'the same with the time it waited for a CPU that others had',
};

const table = new Figures();
for (const key of Object.keys(figures) as (keyof typeof figures)[]) {
  console.log(about[key]);
  table.note(`  ${key}`, key, figures[key], goals[key]);
}
table.printJson('slurm');

function round(value: number, digits = 0): number {
  return Number(value.toFixed(digits));
}
