/**
 * A node that loses power, with the real timing of the node lifecycle (50 s until a node is lost): the one of the leading operator, a
 * webhook replica and a worker. Conditions name the lost node, and jobs on the other nodes go on.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { conditionType } from '@slurm-operator/api';
import { installSlurm, smallMachine } from '@slurm-operator/demo/install';
import { pods, type Resource } from '@slurm-operator/kube';
import { nodeSets } from '@slurm-operator/operator';
import { needsThisMachine } from './src/given/given-cluster.ts';
import { HelmStage } from './src/helm/helm-stage.ts';
import { untilAllReady } from './src/helm/slurm-kinds.ts';
import {
  installSpreadOperator,
  leaderAndNode,
  leaderName,
  replicasReady,
} from './src/helm/spread-operator.ts';
import { until } from './src/until.ts';

const namespace = 'slurm';
const workers = { namespace, name: 'slurm-worker-work' };

describe('the loss of a node', {
  ...needsThisMachine('it cuts the power of nodes'),
  concurrency: false,
  timeout: 1_800_000,
}, () => {
  let stage: HelmStage;
  /** Of slurmctld and slurmrestd. */
  let third: string;

  const slurmctld = async (...command: string[]): Promise<string> =>
    stage.kubectl.say('-n', namespace, 'exec', 'slurm-controller-0', '-c', 'slurmctld', '--', ...command);

  const submit = async (node: string, seconds: number): Promise<string> => {
    const id = (
      await slurmctld(
        'sbatch',
        '--parsable',
        '--chdir=/tmp',
        '--output=/dev/null',
        '--no-requeue',
        `--nodelist=${node}`,
        `--wrap=sleep ${seconds}`,
      )
    ).trim();
    await until(`job ${id} runs on ${node}`, async () => (await jobState(id)) === 'RUNNING');
    return id;
  };
  const jobState = async (id: string): Promise<string> =>
    /JobState=(\S+)/.exec(await slurmctld('scontrol', 'show', 'job', id))?.[1] ?? '';

  /** The Slurm node whose worker runs on a node of the cluster that is none of these. */
  const workerOutside = async (...names: string[]): Promise<string> => {
    const { items } = await stage.client.list(pods, {
      namespace,
      labelSelector: 'app.kubernetes.io/name=slurmd',
    });
    const other = items.find(({ spec }) => !names.includes(spec?.nodeName ?? ''));
    assert.ok(other?.spec?.hostname, 'there is a worker on another node');
    return other.spec.hostname;
  };

  const names = (resource: unknown, name: string, node: string) =>
    until(`${name} names the lost node ${node} in its Ready condition`, async () => {
      const live = (await stage.client.get(resource as Resource<never>, { namespace, name })) as {
        status?: { conditions?: { type: string; status: string; message: string }[] };
      };
      const ready = live.status?.conditions?.find(({ type }) => type === conditionType.ready);
      return ready?.status === 'False' && ready.message.includes(node);
    });

  const allWell = async () => {
    await untilAllReady(stage.client, namespace, { timeoutMs: 600_000 });
    await until('both programs have two ready replicas', () => replicasReady(stage.client));
  };

  before(async () => {
    stage = await HelmStage.open({ name: `node-loss-${process.pid}`, nodes: 3 });
    third = stage.cluster.nodes[2]?.name ?? '';
    await installSpreadOperator(stage);
    const onThird = { podSpec: { nodeSelector: { 'kubernetes.io/hostname': third } } };
    const images = stage.images as Record<string, object>;
    await installSlurm(stage.helm, {
      release: 'slurm',
      namespace,
      values: {
        ...smallMachine,
        controller: { ...smallMachine.controller, ...images['controller'], ...onThird },
        restapi: { ...images['restapi'], ...onThird },
        nodesetDefaults: images['nodesetDefaults'],
        nodesets: { work: { replicas: 3, partition: { enabled: true, config: 'Default=YES' } } },
      },
    });
    await allWell();
  });
  after(() => stage?.[Symbol.asyncDispose]());

  it('of the leading operator, a webhook and a worker: edits are accepted, another replica leads, a job elsewhere completes', async () => {
    const leader = await leaderAndNode(stage.client);
    const job = await submit(await workerOutside(leader.node, third), 60);
    await stage.cluster.node(leader.node).stop();
    await stage.client.mergePatch(nodeSets, workers, { spec: { minReadySeconds: 1 } }, { timeout: 60_000 });
    await until('another replica leads', async () => (await leaderName(stage.client)) !== leader.pod);
    await names(nodeSets, workers.name, leader.node);
    await until('the job has completed', async () => (await jobState(job)) === 'COMPLETED');
    await until('the lost pods were replaced on other nodes', () => replicasReady(stage.client));
    await stage.cluster.node(leader.node).start();
    await allWell();
    assert.notEqual(
      await leaderName(stage.client),
      leader.pod,
      'the old leader does not take the lease back',
    );
  });
});
