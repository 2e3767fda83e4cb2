/** What happens to machines and pods: cordons, evictions, drains, power cuts. */
import { nodes, pods } from '@slurm-operator/kube';
import { type SlurmClient, SlurmError } from '@slurm-operator/slurm';
import { namespace, type SlurmStage } from '../../slurm-stage.ts';
import { giveBack, powerCut } from '../administrator.ts';
import { type Operation, pause, type Run, type Soaking } from './operation.ts';

const cordonNode: Run = async ({ stage, random }) => {
  const name = random.pick(stage.cluster.nodes)?.name ?? '';
  const unschedulable = random.below(3) === 0;
  await stage.client.mergePatch(nodes, { name }, { spec: { unschedulable: unschedulable || null } });
  return `${unschedulable ? 'cordon' : 'uncordon'} ${name}`;
};

const cordonPod: Run = async ({ stage, random }) => {
  const pod = random.pick(await stage.workers());
  if (pod === undefined) return 'no pod to cordon';
  const cordon = random.below(3) === 0 ? 'true' : null;
  const body = { metadata: { annotations: { 'nodeset.slinky.slurm.net/pod-cordon': cordon } } };
  await stage.client.mergePatch(pods, { namespace, name: pod.metadata.name }, body).catch(() => undefined);
  return `${cordon === null ? 'uncordon' : 'cordon'} pod ${pod.metadata.name}`;
};

const evictUrl = (name: string) => `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
const eviction = (name: string) => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { name, namespace },
});

async function isEvicted(stage: SlurmStage, name: string): Promise<boolean> {
  try {
    await stage.client.json('POST', evictUrl(name), { body: eviction(name), timeout: 3_000 });
    return true;
  } catch {
    return false;
  }
}

/** A worker with a job on it must not be evictable. */
export const evictBusy = async ({ stage, random }: Pick<Soaking, 'stage' | 'random'>): Promise<string> => {
  const busy = (await stage.workers()).filter(
    (pod) => pod.metadata.labels?.['nodeset.slinky.slurm.net/pod-protect'] === 'true',
  );
  const name = random.pick(busy)?.metadata.name;
  if (name === undefined) return 'no busy pod to evict';
  const before = (await stage.workers()).find((pod) => pod.metadata.name === name)?.metadata;
  const protectedStill = before?.labels?.['nodeset.slinky.slurm.net/pod-protect'] === 'true';
  if (!protectedStill) return `evict ${name}: its job has just ended`;
  return `evict ${name}, which is busy: ${(await isEvicted(stage, name)) ? 'allowed' : 'refused'}`;
};

/** As `kubectl drain` does: cordon the machine, evict until it is allowed, give up after a while, uncordon. */
const drainMachine: Run = async ({ stage, random, load }) => {
  const pod = random.pick((await stage.workers()).filter((one) => one.spec?.nodeName !== undefined));
  const { nodeName: machine } = pod?.spec ?? {};
  const name = pod?.metadata.name;
  if (machine === undefined || name === undefined) return 'no machine to drain';
  const cordon = (unschedulable: boolean | null) =>
    stage.client.mergePatch(nodes, { name: machine }, { spec: { unschedulable } });
  await cordon(true);
  const deadline = Date.now() + 6_000;
  let evicted = false;
  while (!evicted && Date.now() < deadline) {
    await pause(1_000);
    // A node whose only job is suspended looks idle: people know of their jobs.
    const used = load.open.some((job) => job.runs.at(-1)?.node.split(',').includes(name));
    evicted = !used && (await isDrained(stage, name)) && (await isEvicted(stage, name));
  }
  await cordon(null);
  return `drain ${machine}: ${name} ${evicted ? 'evicted when it had no job' : 'stayed, its jobs outlasted our patience'}`;
};

async function isDrained(stage: SlurmStage, node: string): Promise<boolean> {
  try {
    const found = (await (await stage.slurm()).nodes.list()).items.find(({ name }) => name === node);
    return found !== undefined && found.state.base === 'IDLE' && found.state.flags.has('DRAIN');
  } catch (error) {
    if (error instanceof SlurmError) return false;
    throw error;
  }
}

/**
 * A power cut under workers without jobs. They are drained in Slurm by a person first, so that no job begins in the moment between
 * the look and the cut; and neither slurmctld nor slurmrestd is on that machine: losing those is another operation.
 */
const loseIdleNode: Run = async ({ stage, random, administrator }) => {
  const on = async (machine: string) =>
    (await stage.client.list(pods, { namespace })).items.filter((pod) => pod.spec?.nodeName === machine);
  const isBare = async (machine: string) =>
    (await on(machine)).every((pod) => pod.metadata.labels?.['app.kubernetes.io/name'] === 'slurmd');
  const bare: (typeof stage.cluster.nodes)[number][] = [];
  for (const node of stage.cluster.nodes) if (await isBare(node.name)) bare.push(node);
  const lost = random.pick(bare);
  if (lost === undefined) return 'no machine to lose: slurmctld or slurmrestd is on each';
  const slurm = await stage.slurm();
  const workers = async () => (await on(lost.name)).map((pod) => pod.spec?.hostname ?? '').toSorted();
  const names = await workers();
  // The drains of this machine are ours until it is over.
  using _cutting = administrator.cutting();
  try {
    for (const name of names) await slurm.nodes.update(name, { state: 'DRAIN', reason: powerCut });
    const idle = await becomeIdle(slurm, names, 8_000);
    // A worker that came meanwhile may have a job, and slurmctld may have moved here.
    const alone = idle && (await workers()).join() === names.join() && (await isBare(lost.name));
    if (alone) {
      await lost.stop();
      await pause(3_000);
      await lost.start();
    }
    for (const name of names) await giveBack(slurm, name);
    return alone ? `power cut of ${lost.name}` : `no power cut: ${lost.name} has a job`;
  } catch (error) {
    if (error instanceof SlurmError) return 'no machine may be lost now: Slurm does not answer';
    throw error;
  }
};

/** Whether all of them are known to Slurm, drained, and without work, before the patience is over. */
async function becomeIdle(slurm: SlurmClient, names: readonly string[], patience: number): Promise<boolean> {
  const deadline = Date.now() + patience;
  for (;;) {
    const { items } = await slurm.nodes.list();
    const drained = names.filter((name) =>
      items.some((node) => node.name === name && node.state.base === 'IDLE' && node.state.flags.has('DRAIN')),
    );
    if (drained.length === names.length) return true;
    if (Date.now() > deadline) return false;
    await pause(500);
  }
}

export const ofMachines: readonly Operation[] = [
  { kind: 'cordon or uncordon a machine', weight: 2, run: cordonNode },
  { kind: 'cordon or uncordon a pod', weight: 2, run: cordonPod },
  { kind: 'evict a busy worker', run: evictBusy },
  { kind: 'drain a machine', needs: ['machines', 'slurmctld'], run: drainMachine },
  { kind: 'lose a machine without jobs', needs: ['machines', 'slurmctld'], run: loseIdleNode },
];
