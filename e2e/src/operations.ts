/** What may happen to a cluster at work. Each operation returns what it did, in words. */
import { nodes, pods, sleep } from '@slurm-operator/kube';
import { SlurmError } from '@slurm-operator/slurm';
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

const evict: Operation = async ({ stage, random }) => {
  const name = random.pick(await stage.workers())?.metadata.name;
  if (name === undefined) return 'no pod to evict';
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
  try {
    await stage.client.json('POST', `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, {
      body,
      timeout: 3_000,
    });
    return `evict ${name}: allowed`;
  } catch {
    return `evict ${name}: refused`;
  }
};

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

/** Only a machine whose workers have no job, and that carries neither slurmctld nor slurmrestd: losing those is another operation. */
const loseIdleNode: Operation = async ({ stage, random }) => {
  const { items } = await stage.client.list(pods, { namespace });
  const slurm = await stage.slurm();
  let busy: Set<string>;
  try {
    busy = new Set(
      (await slurm.nodes.list()).items.filter((node) => node.state.base !== 'IDLE').map((node) => node.name),
    );
  } catch (error) {
    if (error instanceof SlurmError) return 'no machine may be lost now: Slurm does not answer';
    throw error;
  }
  const free = stage.cluster.nodes.filter((node) =>
    items
      .filter((pod) => pod.spec?.nodeName === node.name)
      .every(
        (pod) =>
          pod.metadata.labels?.['app.kubernetes.io/name'] === 'slurmd' && !busy.has(pod.spec?.hostname ?? ''),
      ),
  );
  const lost = random.pick(free);
  if (lost === undefined) return 'no machine without jobs to lose';
  await lost.stop();
  await pause(3_000);
  await lost.start();
  return `power cut of ${lost.name}`;
};

const all: readonly Operation[] = [
  scale,
  scale,
  scale,
  rollOut,
  rollOut,
  cordonNode,
  cordonNode,
  cordonPod,
  cordonPod,
  evict,
  evict,
  killOperator,
  pauseOperator,
  killProgram('slurmctld'),
  killProgram('slurmrestd'),
  pauseProgram('slurmctld'),
  pauseProgram('slurmrestd'),
  restartApiServer,
  loseIdleNode,
];

export async function operate(soak: Soaking): Promise<string> {
  const operation = soak.random.pick(all) ?? scale;
  return operation(soak);
}
