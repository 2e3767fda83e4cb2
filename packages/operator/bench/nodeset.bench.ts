/**
 * `make bench BENCH=nodeset`: what the NodeSet controller costs at 100, 1,000 and 5,000 workers, on hollow nodes and with a
 * simulated Slurm that takes as long as the real one. SIZES=100,1000 narrows; IDLE_SECONDS=60 shortens the idle phase;
 * PHASES=floor,idle leaves out scale-in and rollout.
 *
 * The floor of a scale-out is what the server and the hollow machines need for the very same pods, posted by a plain client with the
 * same slow start and as many requests at once, while no operator runs. Both are timed from the first request until every pod runs. A
 * server that has served for a while is faster than a fresh one, and so is a client: both clients have made and removed some hundred
 * pods before anything is measured. The floor is taken before the operator is started and again after it has ended; the mean counts.
 */

import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { pods } from '@slurm-operator/kube';
import { inParallel } from '../src/kinds/nodeset/act/in-parallel.ts';
import { type Figure, goalsOf, printFigures } from './nodeset-goals.ts';
import { BenchStage, image, namespace } from './nodeset-stage.ts';

const sizes = (process.env['SIZES'] ?? '100,1000,5000').split(',').map(Number);
const idleSeconds = Number(process.env['IDLE_SECONDS'] ?? 600);
const phases = new Set((process.env['PHASES'] ?? 'floor,idle,scale-in,rollout').split(','));
/** Enough for server and clients to be compiled and connected. */
const warmUp = 300;

const figures = new Map<string, Figure>();
/** With the load of the machine at that moment: what others compute is waited for here. */
function note(key: string, size: number, value: number): void {
  const load = loadavg()[0] ?? 0;
  figures.set(`${key}_${size}`, { value: Number(value.toFixed(2)), load });
  console.log(`  ${key}_${size}  ${value.toFixed(2)}  (load ${load.toFixed(1)})`);
}

async function measure(size: number): Promise<void> {
  console.log(`${size} workers`);
  await using stage = await BenchStage.open(Math.max(size, warmUp));
  await stage.createRaw(warmUp);
  const floor: number[] = [];
  const measureFloor = async (when: 'before' | 'after') => {
    if (!phases.has('floor')) return;
    // What takes tenths of a second is measured more than once.
    const rounds = size < 500 ? 3 : 1;
    let sum = 0;
    for (let round = 0; round < rounds; round += 1) sum += await stage.createRaw(size);
    floor.push(sum / rounds);
    note(`raw_create_${when}_seconds`, size, sum / rounds);
  };
  await measureFloor('before');

  await stage.startOperator();
  await stage.until('the operator is connected to Slurm', 60, () => stage.isConnected());
  await stage.createNodeSet({ replicas: warmUp });
  await stage.untilRunning(warmUp);
  await stage.deleteNodeSet();
  await scaleOut(stage, size);
  if (phases.has('idle')) await idle(stage, size);
  if (phases.has('scale-in')) await scaleIn(stage, size);
  if (phases.has('rollout')) await rollOut(stage, size);
  if (!phases.has('floor')) return;
  await stage.deleteNodeSet();
  await stage.stopOperator();
  await measureFloor('after');
  note('raw_create_seconds', size, floor.reduce((sum, seconds) => sum + seconds, 0) / floor.length);
}

async function scaleOut(stage: BenchStage, size: number): Promise<void> {
  const before = await stage.usage();
  const slurmBefore = stage.slurmRequests();
  const began = performance.now();
  await stage.createNodeSet({ replicas: size, updateStrategy: { rollingUpdate: { maxUnavailable: '25%' } } });
  await stage.untilRunning(size);
  note('scale_out_seconds', size, (performance.now() - began) / 1000);
  const running = await stage.usage();
  note('scale_out_cpu_seconds', size, running.cpuSeconds - before.cpuSeconds);
  note('scale_out_cpu_wait_seconds', size, running.cpuWaitSeconds - before.cpuWaitSeconds);
  await stage.until('all workers are settled', 900, () => stage.isSettled(size));
  note('settled_seconds', size, (performance.now() - began) / 1000);
  const after = await stage.usage();
  note('settled_cpu_seconds', size, after.cpuSeconds - before.cpuSeconds);
  const slurmWrites = stage.slurmRequests().writes - slurmBefore.writes;
  note('writes_per_worker', size, (after.kubeWrites - before.kubeWrites + slurmWrites) / size);
}

/** Nothing happens to the NodeSet, and something every ten seconds elsewhere in its Slurm. */
async function idle(stage: BenchStage, size: number): Promise<void> {
  // What scale-out left to do has been done (how often an event came is written after 30 s), and Slurm is asked at its slow pace.
  await delay(40_000);
  const before = await stage.usage();
  const slurmBefore = stage.slurmRequests();
  let rss = before.rssMb;
  const end = before.at + idleSeconds * 1000;
  for (let change = 0; Date.now() < end; change += 1) {
    const node = stage.slurm.cluster.node('elsewhere');
    node.comment = `change ${change}`;
    stage.slurm.cluster.touch(node);
    await delay(Math.min(10_000, Math.max(0, end - Date.now())));
    rss = Math.max(rss, (await stage.usage()).rssMb);
  }
  const after = await stage.usage();
  const slurmAfter = stage.slurmRequests();
  const minutes = (after.at - before.at) / 60_000;
  note('idle_kube_requests_per_min', size, (after.kubeRequests - before.kubeRequests) / minutes);
  note('idle_slurm_requests_per_min', size, (slurmAfter.all - slurmBefore.all) / minutes);
  note('idle_cpu_percent', size, ((after.cpuSeconds - before.cpuSeconds) / (minutes * 60)) * 100);
  note('idle_rss_mb', size, rss);
  note('idle_heap_mb', size, after.heapMb);
  note('idle_heap_total_mb', size, after.heapTotalMb);
  note('idle_buffers_mb', size, after.buffersMb);
  note('idle_writes', size, after.kubeWrites - before.kubeWrites + slurmAfter.writes - slurmBefore.writes);
}

/** A tenth of the workers, chosen by their cost, goes while each has a job; each job ends at a moment of its own. */
async function scaleIn(stage: BenchStage, size: number): Promise<void> {
  const { cluster } = stage.slurm;
  const chosen = [...stage.pods.keys()].slice(0, victims(size));
  const cost = { 'nodeset.slinky.slurm.net/pod-deletion-cost': '-1' };
  const failures = await inParallel(chosen, 16, async (name) => {
    await stage.client.mergePatch(pods, { namespace, name }, { metadata: { annotations: cost } });
  });
  if (failures.length > 0) throw failures[0];
  const jobs = new Map(chosen.map((node) => [node, cluster.runJob([node], { timeLimit: 60 })]));
  const slurmBefore = stage.slurmRequests();
  const kubeBefore = await stage.kubeRequests();
  await stage.patchNodeSet({ replicas: size - chosen.length });
  await stage.until('the victims are drained', 120, () =>
    chosen.every((node) => cluster.nodes.get(node)?.flags.has('DRAIN')),
  );
  const endedAt = new Map<string, number>();
  const spread = 30_000;
  await Promise.all(
    chosen.map(async (node, index) => {
      await delay((index * spread) / chosen.length);
      endedAt.set(node, Date.now());
      cluster.finishJob(jobs.get(node) ?? 0);
    }),
  );
  await stage.until('the victims are gone', 120, () => chosen.every((node) => stage.deletedAt.has(node)));
  const slurmAfter = stage.slurmRequests();
  note('scale_in_slurm_mb', size, slurmAfter.megabytes - slurmBefore.megabytes);
  note('scale_in_node_lists', size, slurmAfter.lists - slurmBefore.lists);
  note('scale_in_slurm_requests', size, slurmAfter.all - slurmBefore.all);
  const asked = difference(kubeBefore, await stage.kubeRequests());
  const kubeWrites = sum(asked, (name) => isWrite(name) && !name.endsWith(' events'));
  note(
    'scale_in_writes_per_worker',
    size,
    (kubeWrites + slurmAfter.writes - slurmBefore.writes) / chosen.length,
  );
  note(
    'scale_in_reads',
    size,
    sum(asked, (name) => !isWrite(name) && !name.startsWith('watch')),
  );
  note('scale_in_secret_reads', size, asked['get secrets'] ?? 0);
  if (process.env['DETAILS'] !== undefined) console.log(asked);
  const waits = chosen
    .map((node) => (stage.deletedAt.get(node) ?? 0) - (endedAt.get(node) ?? 0))
    .toSorted((a, b) => a - b);
  note('drained_to_deleted_p99_ms', size, waits[Math.ceil(waits.length * 0.99) - 1] ?? Number.NaN);
  note('drained_to_deleted_p50_ms', size, waits[Math.floor(waits.length / 2)] ?? Number.NaN);
  await stage.patchNodeSet({ replicas: size });
  await stage.until('it is whole again', 600, () => stage.isSettled(size));
}

/** As many as leave in a scale-in. */
const victims = (size: number): number => Number(process.env['VICTIMS'] ?? Math.max(10, size / 10));

type Counts = Readonly<Record<string, number>>;
const difference = (before: Counts, after: Counts): Counts =>
  Object.fromEntries(
    Object.entries(after)
      .map(([name, count]) => [name, count - (before[name] ?? 0)] as const)
      .filter(([, count]) => count > 0),
  );
const sum = (counts: Counts, isMeant: (name: string) => boolean): number =>
  Object.entries(counts).reduce((total, [name, count]) => total + (isMeant(name) ? count : 0), 0);
const isWrite = (name: string): boolean => /^(create|update|patch|delete)/.test(name);

/** A new image for all, a quarter at a time, with nothing running. */
async function rollOut(stage: BenchStage, size: number): Promise<void> {
  const began = performance.now();
  const before = await stage.usage();
  const slurmBefore = stage.slurmRequests();
  const kubeBefore = await stage.kubeRequests();
  await stage.patchNodeSet({ slurmd: { image: `${image}-new` } });
  await stage.until('the rollout is done', 1800, () => stage.isSettled(size));
  note('rollout_seconds', size, (performance.now() - began) / 1000);
  const after = await stage.usage();
  const slurmAfter = stage.slurmRequests();
  note('rollout_cpu_seconds', size, after.cpuSeconds - before.cpuSeconds);
  note('rollout_slurm_mb', size, slurmAfter.megabytes - slurmBefore.megabytes);
  note('rollout_node_lists', size, slurmAfter.lists - slurmBefore.lists);
  const asked = difference(kubeBefore, await stage.kubeRequests());
  if (process.env['DETAILS'] !== undefined) console.log(asked, slurmAfter.writes - slurmBefore.writes);
  const kubeWrites = sum(asked, (name) => isWrite(name) && !name.endsWith(' events'));
  note('rollout_writes_per_worker', size, (kubeWrites + slurmAfter.writes - slurmBefore.writes) / size);
}

for (const size of sizes) await measure(size);
printFigures('nodeset', figures, goalsOf(figures, sizes), { idle_seconds: idleSeconds });
