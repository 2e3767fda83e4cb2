/** What may happen to a cluster at work. Each operation returns what it did, in words. */
import { nodes, pods, sleep } from '@slurm-operator/kube';
import { type SlurmClient, SlurmError } from '@slurm-operator/slurm';
import { pidsInCluster } from './processes.ts';
import type { Random } from './random.ts';
import { namespace, type SlurmStage } from './slurm-stage.ts';

export interface Soaking {
  readonly stage: SlurmStage;
  readonly random: Random;
  readonly most: number;
  /** When slurmctld was killed without a chance to save its state. */
  readonly kills: number[];
}

type Operation = (soak: Soaking) => Promise<string>;

const pause = (milliseconds: number) => sleep(milliseconds, AbortSignal.timeout(milliseconds + 5_000));

const scale: Operation = async ({ stage, random, most }) => {
  const replicas = 1 + random.below(most);
  await stage.patchNodeSet('w', { replicas });
  return `scale to ${replicas}`;
};

const rollOut: Operation = async ({ stage, random }) => {
  await stage.patchNodeSet('w', {
    template: { metadata: { annotations: { rolled: String(random.below(1e9)) } } },
  });
  return 'roll out a new revision';
};

const cordonNode: Operation = async ({ stage, random }) => {
  const name = random.pick(stage.cluster.nodes)?.name ?? '';
  const unschedulable = random.below(3) === 0;
  await stage.client.mergePatch(nodes, { name }, { spec: { unschedulable: unschedulable || null } });
  return `${unschedulable ? 'cordon' : 'uncordon'} ${name}`;
};

const cordonPod: Operation = async ({ stage, random }) => {
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
const evictBusy: Operation = async ({ stage, random }) => {
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
const drainMachine: Operation = async ({ stage, random }) => {
  const pod = random.pick((await stage.workers()).filter((one) => one.spec?.nodeName !== undefined));
  const { nodeName: machine } = pod?.spec ?? {};
  const name = pod?.metadata.name;
  if (machine === undefined || name === undefined) return 'no machine to drain';
  const cordon = (unschedulable: boolean | null) =>
    stage.client.mergePatch(nodes, { name: machine }, { spec: { unschedulable } });
  await cordon(true);
  const deadline = Date.now() + 15_000;
  let evicted = false;
  while (!evicted && Date.now() < deadline) {
    await pause(1_000);
    evicted = (await isDrained(stage, name)) && (await isEvicted(stage, name));
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

const killOperator: Operation = async ({ stage }) => {
  await stage.operator.kill();
  await pause(500);
  stage.operator.start();
  return 'kill -9 the operator';
};

const pauseOperator: Operation = async ({ stage }) => {
  stage.operator.pause();
  await pause(3_000);
  stage.operator.resume();
  return 'pause the operator for 3 s';
};

const restartOperator: Operation = async ({ stage }) => {
  await stage.operator.stop();
  stage.operator.start();
  return 'restart the operator';
};

/** SIGTERM: it saves its state and ends; its container is started again. */
const restartProgram =
  (program: string): Operation =>
  async ({ stage }) => {
    for (const pid of pidsInCluster(stage.cluster.name, program)) process.kill(pid, 'SIGTERM');
    return `restart ${program}`;
  };

const killProgram =
  (program: string): Operation =>
  async ({ stage, kills }) => {
    for (const pid of pidsInCluster(stage.cluster.name, program)) process.kill(pid, 'SIGKILL');
    if (program === 'slurmctld') kills.push(Date.now());
    return `kill -9 ${program}`;
  };

const pauseProgram =
  (program: string): Operation =>
  async ({ stage }) => {
    const pids = pidsInCluster(stage.cluster.name, program);
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await pause(2_000);
    for (const pid of pids)
      if (pidsInCluster(stage.cluster.name, program).includes(pid)) process.kill(pid, 'SIGCONT');
    return `pause ${program} for 2 s`;
  };

const restartApiServer: Operation = async ({ stage }) => {
  await stage.cluster.server.restart();
  return 'restart the API server';
};

/** Every connection breaks, and for two seconds every new one too. */
const killApiServer: Operation = async ({ stage }) => {
  const heal = stage.cluster.server.faults.reset();
  await stage.cluster.server.restart();
  await pause(2_000);
  heal();
  return 'kill the API server, back after 2 s';
};

const pauseApiServer: Operation = async ({ stage }) => {
  const heal = stage.cluster.server.faults.pause();
  await pause(2_000);
  heal();
  return 'pause the API server for 2 s';
};

/**
 * A power cut under workers without jobs. They are drained in Slurm by a person first, so that no job begins in the moment between
 * the look and the cut; and neither slurmctld nor slurmrestd is on that machine: losing those is another operation.
 */
const loseIdleNode: Operation = async ({ stage, random }) => {
  const { items } = await stage.client.list(pods, { namespace });
  const on = (machine: string) => items.filter((pod) => pod.spec?.nodeName === machine);
  const lost = random.pick(
    stage.cluster.nodes.filter((node) =>
      on(node.name).every((pod) => pod.metadata.labels?.['app.kubernetes.io/name'] === 'slurmd'),
    ),
  );
  if (lost === undefined) return 'no machine to lose: slurmctld or slurmrestd is on each';
  const slurm = await stage.slurm();
  const workers = on(lost.name).map((pod) => pod.spec?.hostname ?? '');
  try {
    const known = new Set((await slurm.nodes.list()).items.map(({ name }) => name));
    const drained = workers.filter((name) => known.has(name));
    for (const name of drained) await slurm.nodes.update(name, { state: 'DRAIN', reason: powerCut });
    const idle = (await slurm.nodes.list()).items
      .filter(({ name }) => drained.includes(name))
      .every(({ state }) => state.base === 'IDLE' && state.flags.has('DRAIN'));
    if (idle) {
      await lost.stop();
      await pause(3_000);
      await lost.start();
    }
    for (const name of drained) await giveBack(slurm, name);
    return idle ? `power cut of ${lost.name}` : `no power cut: ${lost.name} has a job`;
  } catch (error) {
    if (error instanceof SlurmError) return 'no machine may be lost now: Slurm does not answer';
    throw error;
  }
};

export const powerCut = 'power cut';

/** Takes a person's drain away, if it is still there: the worker may have been replaced meanwhile. */
export async function giveBack(slurm: SlurmClient, name: string): Promise<void> {
  const node = (await slurm.nodes.list()).items.find((one) => one.name === name);
  if (node?.reason.includes(powerCut)) await slurm.nodes.update(name, { state: 'UNDRAIN' });
}

/** By weight. Every kind comes about as often as another; scaling and rollouts, which everything else interrupts, more often. */
const all: readonly Operation[] = [
  scale,
  scale,
  scale,
  scale,
  rollOut,
  rollOut,
  rollOut,
  cordonNode,
  cordonNode,
  cordonPod,
  cordonPod,
  evictBusy,
  drainMachine,
  killOperator,
  pauseOperator,
  restartOperator,
  killProgram('slurmctld'),
  pauseProgram('slurmctld'),
  restartProgram('slurmctld'),
  killProgram('slurmrestd'),
  pauseProgram('slurmrestd'),
  restartProgram('slurmrestd'),
  killApiServer,
  pauseApiServer,
  restartApiServer,
  loseIdleNode,
];

export async function operate(soak: Soaking): Promise<string> {
  const operation = soak.random.pick(all) ?? scale;
  return operation(soak);
}
