/** What may happen to a cluster at work. Each operation returns what it did, in words. */
import { KubeError, nodes, pods, sleep } from '@slurm-operator/kube';
import { type SlurmClient, SlurmError } from '@slurm-operator/slurm';
import { pidsInCluster } from '../processes.ts';
import { namespace, type SlurmStage } from '../slurm-stage.ts';
import { type Administrator, giveBack, powerCut } from './administrator.ts';
import type { Random } from './random.ts';

export interface Soaking {
  readonly stage: SlurmStage;
  readonly random: Random;
  readonly most: number;
  readonly administrator: Administrator;
  /** When slurmctld was killed without a chance to save its state, and when it was ended in an orderly way. */
  readonly outages: { readonly kills: number[]; readonly restarts: number[] };
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

/** Whether there was one to be told. */
function signal(stage: SlurmStage, program: string, name: NodeJS.Signals): boolean {
  const reached = pidsInCluster(stage.cluster.name, program).map((pid) => send(pid, name));
  return reached.includes(true);
}

/** A process may end between the look and the signal. */
function send(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** SIGTERM: it saves its state and ends; its container is started again. */
const restartProgram =
  (program: string): Operation =>
  async ({ stage, outages }) => {
    const ended = signal(stage, program, 'SIGTERM');
    if (ended && program === 'slurmctld') outages.restarts.push(Date.now());
    return ended ? `restart ${program}` : `no ${program} to restart`;
  };

const killProgram =
  (program: string): Operation =>
  async ({ stage, outages }) => {
    const killed = signal(stage, program, 'SIGKILL');
    if (killed && program === 'slurmctld') outages.kills.push(Date.now());
    return killed ? `kill -9 ${program}` : `no ${program} to kill`;
  };

const pauseProgram =
  (program: string): Operation =>
  async ({ stage }) => {
    const pids = pidsInCluster(stage.cluster.name, program);
    for (const pid of pids) send(pid, 'SIGSTOP');
    await pause(2_000);
    for (const pid of pids)
      if (pidsInCluster(stage.cluster.name, program).includes(pid)) send(pid, 'SIGCONT');
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
const loseIdleNode: Operation = async ({ stage, random, administrator }) => {
  const on = async (machine: string) =>
    (await stage.client.list(pods, { namespace })).items.filter((pod) => pod.spec?.nodeName === machine);
  const bare: (typeof stage.cluster.nodes)[number][] = [];
  for (const node of stage.cluster.nodes)
    if ((await on(node.name)).every((pod) => pod.metadata.labels?.['app.kubernetes.io/name'] === 'slurmd'))
      bare.push(node);
  const lost = random.pick(bare);
  if (lost === undefined) return 'no machine to lose: slurmctld or slurmrestd is on each';
  const slurm = await stage.slurm();
  const workers = async () => (await on(lost.name)).map((pod) => pod.spec?.hostname ?? '').toSorted();
  const names = await workers();
  // The drains of this machine are ours until it is over.
  using _cutting = administrator.cutting();
  try {
    for (const name of names) await slurm.nodes.update(name, { state: 'DRAIN', reason: powerCut });
    const idle = await becomeIdle(slurm, names, 30_000);
    // A worker that came meanwhile may have a job.
    const alone = idle && (await workers()).join() === names.join();
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

/** By weight. Every kind comes about as often as another; scaling and rollouts, which everything else interrupts, more often. */
const all: readonly { readonly kind: string; readonly weight: number; readonly run: Operation }[] = [
  { kind: 'scale', weight: 4, run: scale },
  { kind: 'roll out', weight: 3, run: rollOut },
  { kind: 'cordon or uncordon a machine', weight: 2, run: cordonNode },
  { kind: 'cordon or uncordon a pod', weight: 2, run: cordonPod },
  { kind: 'evict a busy worker', weight: 1, run: evictBusy },
  { kind: 'drain a machine', weight: 1, run: drainMachine },
  { kind: 'kill -9 the operator', weight: 1, run: killOperator },
  { kind: 'pause the operator', weight: 1, run: pauseOperator },
  { kind: 'restart the operator', weight: 1, run: restartOperator },
  { kind: 'kill -9 slurmctld', weight: 1, run: killProgram('slurmctld') },
  { kind: 'pause slurmctld', weight: 1, run: pauseProgram('slurmctld') },
  { kind: 'restart slurmctld', weight: 1, run: restartProgram('slurmctld') },
  { kind: 'kill -9 slurmrestd', weight: 1, run: killProgram('slurmrestd') },
  { kind: 'pause slurmrestd', weight: 1, run: pauseProgram('slurmrestd') },
  { kind: 'restart slurmrestd', weight: 1, run: restartProgram('slurmrestd') },
  { kind: 'kill the API server', weight: 1, run: killApiServer },
  { kind: 'pause the API server', weight: 1, run: pauseApiServer },
  { kind: 'restart the API server', weight: 1, run: restartApiServer },
  { kind: 'lose a machine without jobs', weight: 1, run: loseIdleNode },
];
const drawn = all.flatMap((one) => Array.from({ length: one.weight }, () => one));

/** One of them by chance: its kind, and what it did. What cannot be done because a daemon is away is not done. */
export async function operate(soak: Soaking): Promise<{ readonly kind: string; readonly what: string }> {
  const { kind, run } = soak.random.pick(drawn) ?? { kind: 'scale', run: scale };
  try {
    return { kind, what: await run(soak) };
  } catch (error) {
    if (!(error instanceof KubeError) && !(error instanceof SlurmError)) throw error;
    return { kind, what: `${kind}: not now, ${error.message}` };
  }
}
