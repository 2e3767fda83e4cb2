/** Parts of `make bench BENCH=autoscale` with many nodes: hollow machines, a simulated Slurm, and the operator in a process of its own. */
import { setTimeout as delay } from 'node:timers/promises';
import { BenchStage, image } from './nodeset-stage.ts';

const slurmd = { image, resources: { limits: { cpu: '4', memory: '4000Mi' } } };

/** Records that sleep and say whose they are. */
const isAsleep = ({ flags, comment }: { flags: ReadonlySet<string>; comment: string }): boolean =>
  flags.has('POWERED_DOWN') && comment !== '';

async function openAsleep(count: number, machines: number): Promise<BenchStage> {
  const stage = await BenchStage.open(machines);
  await stage.startOperator();
  await stage.until('the operator is connected to Slurm', 60, () => stage.isConnected());
  await stage.createNodeSet({ slurmd, oversubscribeNode: true, autoscale: { max: count } });
  const asleep = () => [...stage.slurm.cluster.nodes.values()].filter(isAsleep).length;
  await stage.until(`${count} nodes sleep`, 600, () => asleep() === count);
  return stage;
}

export interface GangFigures {
  /** From the moment at which Slurm powers up all nodes of a job until all their pods exist. */
  readonly seconds: number;
  /** Of that, until the first pod exists: the poll of Slurm and one plan. */
  readonly firstPodSeconds: number;
  /** Processor time of the operator, and how long it waited for a processor. */
  readonly cpuSeconds: number;
  readonly cpuWaitSeconds: number;
  /** A plain client creates the same pods, with as many requests at once, until they run. */
  readonly rawSeconds: number;
}

/** A job of `count` nodes, all of which sleep. */
export async function wakeGang(count: number): Promise<GangFigures> {
  await using stage = await openAsleep(count, count);
  const { cluster } = stage.slurm;
  // Server, client and operator are warm: their first requests take longer.
  await stage.createRaw(100);
  const rawSeconds = await stage.createRaw(count);
  const before = await stage.usage();
  const sleeping = [...cluster.nodes.values()].filter(isAsleep);
  const began = performance.now();
  for (const node of sleeping) {
    node.flags.delete('POWERED_DOWN');
    node.flags.add('POWERING_UP');
    cluster.touch(node);
  }
  const elapsed = () => (performance.now() - began) / 1000;
  await stage.until('the first pod exists', 300, () => stage.pods.size > 0, 10);
  const firstPodSeconds = elapsed();
  await stage.until('all pods exist', 300, () => stage.pods.size >= count, 10);
  const seconds = elapsed();
  const after = await stage.usage();
  return {
    seconds,
    firstPodSeconds,
    cpuSeconds: after.cpuSeconds - before.cpuSeconds,
    cpuWaitSeconds: after.cpuWaitSeconds - before.cpuWaitSeconds,
    rawSeconds,
  };
}

export interface RestCost {
  /** Requests that a NodeSet which sleeps adds: other paths than those that are polled without it, or writes. */
  readonly beyondPoll: number;
  readonly perSecond: number;
  readonly cpuShare: number;
}

/** What `count` sleeping nodes cost Slurm while nothing happens. */
export async function rest(count: number, seconds: number): Promise<RestCost> {
  await using stage = await openAsleep(count, 100);
  const { requests } = stage.slurm;
  const pathOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;
  // Lists that any cluster is polled for.
  const polled = /^GET slurm\/(nodes|jobs|jobs\/state|partitions|ping|diag)\/?$/;
  await delay(5_000);
  const before = requests.length;
  const usage = await stage.usage();
  await delay(seconds * 1000);
  const after = await stage.usage();
  const made = requests.slice(before).map(pathOf);
  const beyond = made.filter((one) => !polled.test(one));
  if (beyond.length > 0) console.log(`  beyond the poll: ${[...new Set(beyond)].join(', ')}`);
  return {
    beyondPoll: beyond.length,
    perSecond: made.length / seconds,
    cpuShare: (after.cpuSeconds - usage.cpuSeconds) / seconds,
  };
}
