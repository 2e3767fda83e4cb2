/**
 * `make bench BENCH=clusters`: what many clusters cost one operator, and whether a broken one costs the others anything. CLUSTERS=50 and
 * WORKERS=100 by default; IDLE_SECONDS=60. FAIR=200 clusters of one worker are then changed once each. PHASES=idle,broken,fair narrows.
 */
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { pods } from '@slurm-operator/kube';
import { ClustersStage, clusterName } from './clusters-stage.ts';
import { type Figure, type FigureGoal, printFigures } from './nodeset-goals.ts';

const count = Number(process.env['CLUSTERS'] ?? 50);
const workers = Number(process.env['WORKERS'] ?? 100);
const fair = Number(process.env['FAIR'] ?? 200);
const idleSeconds = Number(process.env['IDLE_SECONDS'] ?? 60);
const phases = new Set((process.env['PHASES'] ?? 'idle,broken,fair').split(','));

const figures = new Map<string, Figure>();
function note(key: string, value: number): void {
  const load = loadavg()[0] ?? 0;
  figures.set(key, { value: Number(value.toFixed(2)), load });
  console.log(`  ${key}  ${value.toFixed(2)}  (load ${load.toFixed(1)})`);
}

async function manyClusters(): Promise<void> {
  console.log(`${count} clusters of ${workers} workers`);
  await using stage = await ClustersStage.open(count, count * workers);
  await stage.startOperator();
  const began = performance.now();
  await stage.createNodeSets(workers);
  await stage.until(
    'all are settled',
    900,
    async () => (await stage.settled(() => workers)).size === count,
    500,
  );
  note('settled_seconds', (performance.now() - began) / 1000);
  if (phases.has('idle')) await idle(stage);
  if (!phases.has('broken')) return;
  const healthy = await scaleInOnce(stage, 'before');
  await stage.slurms[0]?.refuse();
  const slow = stage.slurms[1];
  if (slow !== undefined) slow.faults.slowMs = 15_000;
  await delay(5_000);
  const beside = await scaleInOnce(stage, 'beside a broken and a slow one');
  note('drained_to_deleted_p99_ms', healthy);
  note('drained_to_deleted_p99_ms_beside_broken', beside);
  note('broken_ratio', beside / healthy);
}

async function idle(stage: ClustersStage): Promise<void> {
  await delay(40_000);
  const [before, slurm, megabytes] = [await stage.usage(), stage.slurmRequests(), stage.slurmMegabytes()];
  await delay(idleSeconds * 1000);
  const after = await stage.usage();
  const minutes = (after.at - before.at) / 60_000;
  note('idle_cpu_percent', ((after.cpuSeconds - before.cpuSeconds) / (minutes * 60)) * 100);
  note('idle_rss_mb', after.rssMb);
  note('idle_kube_requests_per_min', (after.kubeRequests - before.kubeRequests) / minutes);
  note('idle_kube_writes', after.kubeWrites - before.kubeWrites);
  note('idle_slurm_requests_per_min', (stage.slurmRequests() - slurm) / minutes);
  note('idle_slurm_mb_per_min', (stage.slurmMegabytes() - megabytes) / minutes);
}

let removed = 0;

/** In every cluster but the first two the last worker goes, while it has a job; the jobs end one after the other. */
async function scaleInOnce(stage: ClustersStage, when: string): Promise<number> {
  console.log(`  scale-in of one worker of each cluster, ${when}`);
  removed += 1;
  const last = workers - removed;
  const chosen = stage.slurms.flatMap((slurm, index) =>
    index < 2 ? [] : [{ slurm, index, node: `${clusterName(index)}-${last}`, id: 0 }],
  );
  const cost = { metadata: { annotations: { 'nodeset.slinky.slurm.net/pod-deletion-cost': '-1' } } };
  await Promise.all(
    chosen.map(({ index, node: name }) =>
      stage.client.mergePatch(pods, { namespace: clusterName(index), name }, cost),
    ),
  );
  for (const each of chosen) each.id = each.slurm.cluster.runJob([each.node], { timeLimit: 60 });
  await Promise.all(chosen.map(({ index }) => stage.patchNodeSet(index, { replicas: last })));
  await stage.until('the victims are drained', 300, () =>
    chosen.every(({ slurm, node }) => slurm.cluster.nodes.get(node)?.flags.has('DRAIN')),
  );
  const endedAt = new Map<string, number>();
  for (const { slurm, node, id } of chosen) {
    await delay(200);
    endedAt.set(node, Date.now());
    slurm.cluster.finishJob(id);
  }
  await stage.until('the victims are gone', 300, () => chosen.every(({ node }) => stage.deletedAt.has(node)));
  const waits = chosen.map(({ node }) => (stage.deletedAt.get(node) ?? 0) - (endedAt.get(node) ?? 0));
  return waits.toSorted((a, b) => a - b)[Math.ceil(waits.length * 0.99) - 1] ?? Number.NaN;
}

/** Each of many small clusters gets one change at the same moment. */
async function fairness(): Promise<void> {
  console.log(`${fair} clusters of one worker, each changed once`);
  await using stage = await ClustersStage.open(fair, fair * 2);
  await stage.startOperator();
  await stage.createNodeSets(1);
  await stage.until('all are settled', 900, async () => (await stage.settled(() => 1)).size === fair, 500);
  const began = performance.now();
  const took = new Map<number, number>();
  await Promise.all(stage.slurms.map((_, index) => stage.patchNodeSet(index, { replicas: 2 })));
  await stage.until('all have changed', 900, async () => {
    for (const index of await stage.settled(() => 2))
      if (!took.has(index)) took.set(index, performance.now() - began);
    return took.size === fair;
  });
  const sorted = [...took.values()].toSorted((a, b) => a - b);
  const median = sorted[Math.floor(fair / 2)] ?? Number.NaN;
  note('fair_all_settled_seconds', (sorted.at(-1) ?? Number.NaN) / 1000);
  note('fair_median_seconds', median / 1000);
  note('fair_slowest_to_median', (sorted.at(-1) ?? Number.NaN) / median);
}

if (phases.has('idle') || phases.has('broken')) await manyClusters();
if (phases.has('fair')) await fairness();
const goals: FigureGoal[] = [
  { key: 'idle_cpu_percent', goal: { below: 3 }, unit: '% of a core' },
  { key: 'idle_rss_mb', goal: { below: 250 }, unit: 'MB' },
  { key: 'broken_ratio', goal: 1.1, unit: '× without a broken one' },
  { key: 'fair_slowest_to_median', goal: 3, unit: '×' },
];
printFigures(
  'clusters',
  figures,
  goals.filter(({ key }) => figures.has(key)),
  { clusters: count, workers },
);
