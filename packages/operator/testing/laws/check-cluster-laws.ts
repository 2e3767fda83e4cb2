/** Runs random histories of a whole cluster and checks the laws by what really happened in it. */
import fc from 'fast-check';
import { LawBroken } from '../check-laws.ts';
import { type Happening, happen, happening } from './cluster-history.ts';
import { ClusterWorld, cordonAnnotation, isWorker } from './cluster-world.ts';
import { endOf } from './end-of-history.ts';
import type { StoredObject } from './memory-kube.ts';
import type { Json } from './merge.ts';

const start = fc.record({
  machines: fc.integer({ min: 1, max: 4 }),
  replicas: fc.nat({ max: 3 }),
  second: fc.boolean(),
  daemon: fc.boolean(),
  maxNodeCount: fc.option(fc.constant(8), { nil: undefined }),
});

export interface LawsResult {
  readonly histories: number;
  readonly seconds: number;
}

export interface LawsOptions {
  readonly runs: number;
  readonly seed: number;
  /** Actions that are left out. */
  readonly without?: readonly string[];
  /** Actions that come more often: a fault that needs several of them is found sooner. */
  readonly often?: readonly string[];
  /** Looks for the shortest history that breaks the law. @default true */
  readonly shrink?: boolean;
}

/** Throws on the first broken law, with the number of histories that it took to find it and the shortest one that breaks it. */
export async function checkClusterLaws({
  runs,
  seed,
  without = [],
  often = [],
  shrink = true,
}: LawsOptions): Promise<LawsResult> {
  const began = performance.now();
  let histories = 0;
  let found: { readonly histories: number; readonly seconds: number } | undefined;
  const seconds = () => (performance.now() - began) / 1000;
  const events = fc.array(happening(without, often), { minLength: 10, maxLength: 60, size: 'max' });
  const property = fc.asyncProperty(start, events, async (from, history) => {
    if (found === undefined) histories += 1;
    try {
      await runHistory(from, history);
    } catch (error) {
      found ??= { histories, seconds: seconds() };
      throw error;
    }
  });
  const result = await fc.check(property, { numRuns: runs, seed, endOnFailure: !shrink });
  if (result.failed) {
    const { counterexample, errorInstance } = result;
    const why =
      errorInstance instanceof LawBroken ? errorInstance.message : String((errorInstance as Error).stack);
    throw new LawBroken(
      `found after ${found?.histories} histories, ${found?.seconds.toFixed(1)} s: ${why}\nSEED=${seed}, in short: ${JSON.stringify(counterexample)}`,
    );
  }
  return { histories, seconds: seconds() };
}

/** Rollouts that wait for people are let go in the end. */
const atOnce = {
  updateStrategy: {
    type: 'RollingUpdate',
    rollingUpdate: { maxUnavailable: 1, partition: 0, paused: false },
  },
};

function withoutMaxNodeCount(controller: StoredObject): Json {
  const { maxNodeCount: _, ...spec } = controller['spec'] as Json;
  return { ...controller, spec };
}

type Start = typeof start extends fc.Arbitrary<infer T> ? T : never;

async function runHistory(from: Start, events: readonly Happening[]): Promise<void> {
  const { maxNodeCount } = from;
  const world = new ClusterWorld(from.machines, maxNodeCount === undefined ? {} : { maxNodeCount });
  world.createNodeSet('a', { replicas: from.replicas, partition: { enabled: true } });
  const scalingMode = from.daemon ? 'DaemonSet' : 'StatefulSet';
  if (from.second) world.createNodeSet('b', { replicas: 2, scalingMode, partition: { enabled: true } });
  await settle(world);
  for (const each of events) await happen(world, each);
  for (const set of world.nodeSets())
    world.patch('nodesets', set, (live) => ({ ...live, spec: { ...(live['spec'] as object), ...atOnce } }));
  // With too little room for the workers the cluster never settles: they take turns.
  const { controller } = world;
  if (controller !== undefined) world.patch('controllers', controller, withoutMaxNodeCount);
  await settle(world);
  await checkRest(world);
}

/** Everything heals, people put back what they took, and the operator works until nothing is left to do. */
export async function settle(world: ClusterWorld, rounds = 120): Promise<void> {
  world.slurmReachable = true;
  world.machines.imageComes = true;
  world.restoreSecrets();
  for (const machine of world.machines.names) {
    world.machines.restore(machine, world.now);
    world.machines.cordon(machine, false);
  }
  let quiet = 0;
  for (let round = 0; round < rounds && quiet < 5; round += 1) {
    // What only waits for its time gets it: work that Slurm forgot is waited for up to a day.
    world.now += quiet === 2 ? 25 * 3_600_000 : 60_000;
    putBack(world, round);
    const before = `${world.kube.version} ${world.writes}`;
    world.kubeWorks();
    world.slurmWorks();
    world.connection.listNodes();
    world.connection.listJobs();
    const open = world.slurm.open().length;
    await world.operate({ controller: true });
    for (const { metadata } of world.nodeSets()) await world.operate({ nodeSet: metadata.name });
    if (world.broken !== undefined) throw world.broken;
    quiet = before === `${world.kube.version} ${world.writes}` && open === 0 ? quiet + 1 : 0;
  }
  if (quiet < 5) throw new LawBroken(`L8: no rest after ${rounds} rounds: ${JSON.stringify(endOf(world))}`);
}

/** What people cordoned, drained, suspended and held they give back; what an uninstalled NodeSet left, and what waits without workers, they remove. */
function putBack(world: ClusterWorld, round: number): void {
  for (const pod of world.kube.list('pods').filter(isWorker)) {
    const { annotations = {} } = pod.metadata;
    const ours = annotations['nodeset.slinky.slurm.net/pod-cordon-cause'] !== undefined;
    if (annotations[cordonAnnotation] !== 'true' || ours) continue;
    const { [cordonAnnotation]: _, ...rest } = annotations;
    world.patch('pods', pod, (live) => ({ ...live, metadata: { ...live.metadata, annotations: rest } }));
  }
  for (const node of world.slurm.nodes.values())
    if (node.reason === 'bad disk') Object.assign(node, { drained: false, reason: '' });
  for (const name of world.slurm.nodes.keys()) world.machines.removeExternal(name);
  if (world.slurm.open().length === 0)
    for (const { name, owner, instanceId } of world.slurm.nodes.values())
      if (world.uninstalled.has(owner) && !world.machines.lives(instanceId)) world.slurm.nodes.delete(name);
  for (const job of world.slurm.open()) {
    job.held = false;
    world.slurm.suspend(job, false);
    if (round > 20 && job.state === 'PENDING') world.slurm.cancel(job);
  }
  // Partitions that were made with scontrol are removed when they are empty.
  for (const name of world.slurm.created.keys())
    if (!world.slurm.open().some(({ partitions }) => partitions.includes(name)))
      world.slurm.created.delete(name);
}

/** L6 to L9: at rest the world is what a fresh install of the last objects is, and nothing else is left. */
async function checkRest(world: ClusterWorld): Promise<void> {
  const left = endOf(world);
  const other = await freshInstall(world);
  const again = endOf(other);
  for (const part of Object.keys(left) as (keyof typeof left)[]) {
    const [is, wanted] = [JSON.stringify(left[part]), JSON.stringify(again[part])];
    if (is !== wanted)
      throw new LawBroken(`L8: ${part} differs from a fresh install: ${is}, freshly ${wanted}`);
  }
}

/** The last objects, applied to an empty cluster of the same machines. */
export async function freshInstall(world: ClusterWorld): Promise<ClusterWorld> {
  const { maxNodeCount, extraConf, slurmctld } = (world.controller?.['spec'] ?? {}) as Json;
  const other = new ClusterWorld(world.machines.names.length, {
    extraConf,
    ...(slurmctld === undefined ? {} : { slurmctld }),
    ...(maxNodeCount === undefined ? {} : { maxNodeCount }),
  });
  // Of two that select the same machines the older one has them.
  const createdAt = ({ metadata }: { metadata: { creationTimestamp?: string } }) =>
    Date.parse(metadata.creationTimestamp ?? '');
  for (const { metadata, spec } of world.nodeSets().toSorted((a, b) => createdAt(a) - createdAt(b))) {
    other.createNodeSet(metadata.name, spec);
    other.now += 1_000;
  }
  await settle(other);
  return other;
}
