/**
 * `make bench BENCH=nodeset`: what the NodeSet controller costs at 100, 1,000 and 5,000 workers, on hollow nodes and with a
 * simulated Slurm that takes as long as the real one. SIZES=100,1000 narrows; IDLE_SECONDS=60 shortens the idle phase.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { pods } from '@slurm-operator/kube';
import { inParallel, slowStart } from '../src/nodeset/act/in-parallel.ts';

import { BenchStage, image, namespace } from './nodeset-stage.ts';

const sizes = (process.env['SIZES'] ?? '100,1000,5000').split(',').map(Number);
const idleSeconds = Number(process.env['IDLE_SECONDS'] ?? 600);
const phases = process.env['PHASES'];
const figures = new Map<string, number>();
const note = (key: string, size: number, value: number) => {
  figures.set(`${key}_${size}`, Number(value.toFixed(2)));
  console.log(`  ${key}_${size}  ${value.toFixed(2)}`);
};

/** The floor: the very pods that the operator made, posted by a plain client, until all of them run. */
async function rawCreates(stage: BenchStage, size: number): Promise<number> {
  const [sample] = stage.pods.values();
  if (sample === undefined) throw new Error('there is no pod to copy');
  const { labels, annotations } = sample.metadata;
  const copy = (index: number) => ({
    apiVersion: 'v1' as const,
    kind: 'Pod' as const,
    metadata: { name: `raw-${index}`, namespace, labels: { ...labels, raw: 'true' }, annotations },
    spec: { ...sample.spec, hostname: `raw-${index}`, nodeName: undefined },
  });
  await stage.client.json('DELETE', `/apis/slinky.slurm.net/v1beta1/namespaces/${namespace}/nodesets/w`);
  await stage.until('the NodeSet is gone', 300, () => stage.pods.size === 0);
  const began = performance.now();
  const indexes = Array.from({ length: size }, (_, index) => index);
  const failures = await slowStart(indexes, 16, async (index) => {
    await stage.client.create(pods, copy(index) as never);
  });
  if (failures.length > 0) throw failures[0];
  await stage.until('the raw pods run', 600, () => stage.running() === size);
  const seconds = (performance.now() - began) / 1000;
  return seconds;
}

async function measure(size: number): Promise<void> {
  console.log(`${size} workers`);
  await using stage = await BenchStage.open(size);
  stage.startOperator();
  await stage.until('the operator is connected to Slurm', 60, () => stage.isConnected());
  const before = await stage.usage();
  const slurmBefore = stage.slurmRequests();
  const began = performance.now();
  await stage.createNodeSet({ replicas: size, updateStrategy: { rollingUpdate: { maxUnavailable: '25%' } } });
  await stage.until('all workers run', 900, () => stage.running() === size);
  note('scale_out_seconds', size, (performance.now() - began) / 1000);
  await stage.until('all workers are settled', 900, () => stage.isSettled(size));
  note('settled_seconds', size, (performance.now() - began) / 1000);
  const after = await stage.usage();
  const slurmAfter = stage.slurmRequests();
  note(
    'writes_per_worker',
    size,
    (after.kubeWrites - before.kubeWrites + slurmAfter.writes - slurmBefore.writes) / size,
  );
  note('scale_out_cpu_seconds', size, after.cpuSeconds - before.cpuSeconds);

  await idle(stage, size);
  if (phases === 'short') return;
  await scaleIn(stage, size);
  await rollOut(stage, size);
  note('raw_create_seconds', size, await rawCreates(stage, size));
}

/** Nothing happens to the NodeSet, and something every ten seconds elsewhere in its Slurm. */
async function idle(stage: BenchStage, size: number): Promise<void> {
  await delay(20_000); // what scale-out left to do has been done, and Slurm is asked at its slow pace
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
  note('idle_writes', size, after.kubeWrites - before.kubeWrites + slurmAfter.writes - slurmBefore.writes);
}

/** A tenth of the workers, chosen by their cost, goes while each has a job; each job ends at a moment of its own. */
async function scaleIn(stage: BenchStage, size: number): Promise<void> {
  const { cluster } = stage.slurm;
  const chosen = [...stage.pods.keys()].slice(0, Math.max(10, size / 10));
  const cost = { 'nodeset.slinky.slurm.net/pod-deletion-cost': '-1' };
  const failures = await inParallel(chosen, 16, async (name) => {
    await stage.client.mergePatch(pods, { namespace, name }, { metadata: { annotations: cost } });
  });
  if (failures.length > 0) throw failures[0];
  const jobs = new Map(chosen.map((node) => [node, cluster.runJob([node], { timeLimit: 60 })]));
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
  const waits = chosen
    .map((node) => (stage.deletedAt.get(node) ?? 0) - (endedAt.get(node) ?? 0))
    .toSorted((a, b) => a - b);
  note('drained_to_deleted_p99_ms', size, waits[Math.ceil(waits.length * 0.99) - 1] ?? Number.NaN);
  note('drained_to_deleted_p50_ms', size, waits[Math.floor(waits.length / 2)] ?? Number.NaN);
  await stage.patchNodeSet({ replicas: size });
  await stage.until('it is whole again', 600, () => stage.isSettled(size));
}

/** A new image for all, a quarter at a time, with nothing running. */
async function rollOut(stage: BenchStage, size: number): Promise<void> {
  const began = performance.now();
  const before = await stage.usage();
  await stage.patchNodeSet({ slurmd: { image: `${image}-new` } });
  await stage.until('the rollout is done', 1800, () => stage.isSettled(size));
  note('rollout_seconds', size, (performance.now() - began) / 1000);
  note('rollout_cpu_seconds', size, (await stage.usage()).cpuSeconds - before.cpuSeconds);
}

interface Goal {
  readonly key: string;
  readonly most: number;
  readonly unit: string;
}

function goals(): Goal[] {
  const ratio = (key: string, a: string, b: string) =>
    figures.set(key, Number(((figures.get(a) ?? Number.NaN) / (figures.get(b) ?? Number.NaN)).toFixed(2)));
  const list: Goal[] = [];
  for (const size of sizes) {
    ratio(`scale_out_ratio_${size}`, `scale_out_seconds_${size}`, `raw_create_seconds_${size}`);
    list.push({ key: `scale_out_ratio_${size}`, most: 1.5, unit: '× the floor' });
    list.push({ key: `writes_per_worker_${size}`, most: 4, unit: 'writes' });
  }
  if (sizes.includes(1000)) list.push({ key: 'drained_to_deleted_p99_ms_1000', most: 2000, unit: 'ms' });
  if (sizes.includes(5000)) {
    list.push({ key: 'drained_to_deleted_p99_ms_5000', most: 3500, unit: 'ms' });
    list.push({ key: 'idle_cpu_percent_5000', most: 3, unit: '% of a core' });
    list.push({ key: 'idle_rss_mb_5000', most: 200, unit: 'MB' });
    list.push({ key: 'idle_writes_5000', most: 0, unit: 'writes' });
  }
  if (sizes.includes(1000) && sizes.includes(5000)) {
    ratio('scale_out_growth', 'scale_out_seconds_5000', 'scale_out_seconds_1000');
    ratio('rollout_growth', 'rollout_seconds_5000', 'rollout_seconds_1000');
    list.push({ key: 'scale_out_growth', most: 6, unit: '× from 1,000 to 5,000' });
    list.push({ key: 'rollout_growth', most: 6, unit: '× from 1,000 to 5,000' });
  }
  return list;
}

for (const size of sizes) await measure(size);
const byKey = new Map(goals().map((goal) => [goal.key, goal]));
const result: Record<string, string | number | boolean> = { bench: 'nodeset', idle_seconds: idleSeconds };
console.log(`\n${'figure'.padEnd(36)}${'measured'.padStart(10)}  ${'goal'.padEnd(32)}met`);
for (const [key, value] of figures) {
  const goal = byKey.get(key);
  const met = goal !== undefined && value <= goal.most;
  result[key] = value;
  if (goal !== undefined) result[`${key}_met`] = met;
  const told = goal === undefined ? '' : `≤ ${goal.most} ${goal.unit}`;
  console.log(
    `${key.padEnd(36)}${String(value).padStart(10)}  ${told.padEnd(32)}${goal === undefined ? '' : met ? 'yes' : 'NO'}`,
  );
}
console.log(JSON.stringify(result));
