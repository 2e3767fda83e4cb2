/**
 * A node that loses power, with the real timing of the node lifecycle (50 s until a node is lost): the one of the leading operator, a
 * webhook replica and a worker; and the one of slurmctld and slurmrestd. Conditions name the lost node, and jobs on the other nodes go on.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { conditionType } from '@slurm-operator/api';
import { installSlurm, smallMachine } from '@slurm-operator/demo/install';
import { pods, type Resource } from '@slurm-operator/kube';
import { controllers, nodeSets } from '@slurm-operator/operator';
import { needsThisMachine } from './src/given/given-cluster.ts';
import { HelmStage } from './src/helm/helm-stage.ts';
import {
  installSpreadOperator,
  leaderAndNode,
  leaderName,
  replicasReady,
} from './src/helm/spread-operator.ts';
import { until, untilAllReady } from './src/until.ts';

const namespace = 'slurm';
const workers = { namespace, name: 'slurm-worker-work' };

describe('the loss of a node', {
  ...needsThisMachine('it cuts the power of nodes'),
  concurrency: false,
  timeout: 1_800_000,
}, () => {
  let stage: HelmStage;
  /** The node of slurmctld and slurmrestd. */
  let third: string;

  const slurmctld = (...command: string[]): Promise<string> =>
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

  /** slurmctld writes its state some seconds after a change, and forgets what it has not written when its node is lost. */
  const untilSaved = async (id: string): Promise<void> => {
    await slurmctld('scontrol', 'update', `JobId=${id}`, `Comment=saved-${id}`);
    const isSaved = `grep -q saved-${id} "$(scontrol show config | sed -n 's/^StateSaveLocation *= //p')/job_state"`;
    await until(`slurmctld has saved job ${id}`, async () =>
      (await slurmctld('sh', '-c', `${isSaved} && echo yes || true`)).includes('yes'),
    );
  };

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
      return ready?.status === 'False' && ready.message.includes(node) ? ready.message : undefined;
    });

  const nodeOf = async (pod: string): Promise<string> =>
    (await stage.client.find(pods, { namespace, name: pod }))?.spec?.nodeName ?? '';

  const allWell = async () => {
    await untilAllReady(stage.client, namespace, { timeoutMs: 600_000 });
    await until('both programs have two ready replicas', () => replicasReady(stage.client));
  };

  before(async () => {
    stage = await HelmStage.open({ name: `node-loss-${process.pid}`, nodes: 3 });
    third = stage.cluster.nodes[2]?.name ?? '';
    await installSpreadOperator(stage);
    // Preferred: after the loss of that node they must be able to start elsewhere.
    const matchExpressions = [{ key: 'kubernetes.io/hostname', operator: 'In', values: [third] }];
    const preferred = [{ weight: 100, preference: { matchExpressions } }];
    const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: preferred };
    const onThird = { podSpec: { affinity: { nodeAffinity } } };
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

  it('of slurmctld: the condition says what to do, and after that it runs elsewhere with its jobs', async () => {
    assert.equal(await nodeOf('slurm-controller-0'), third);
    const job = await submit(await workerOutside(third), 120);
    await untilSaved(job);
    await stage.cluster.node(third).stop();
    const advice = await names(controllers, 'slurm', third);
    // Kubernetes itself never moves a pod of a StatefulSet from a node that may still run it.
    assert.equal(await nodeOf('slurm-controller-0'), third);
    const [, command = ''] = /run "kubectl ([^"]+)"/.exec(advice) ?? [];
    assert.match(command, new RegExp(`^taint node ${third} `), advice);
    await stage.kubectl.run(command.split(' '));
    await until(
      'slurmctld runs on another node',
      async () => ![third, ''].includes(await nodeOf('slurm-controller-0')),
    );
    await until('slurmctld answers', async () => (await slurmctld('scontrol', 'ping')).includes('UP'));
    await until('the job has completed', async () => (await jobState(job)) === 'COMPLETED');
    assert.match(
      await slurmctld('scontrol', 'show', 'job', job),
      /Restarts=0 /,
      'it was not started a second time',
    );
    await until('the Controller is Ready while the node is off', async () => {
      const { status } = await stage.client.get(controllers, { namespace, name: 'slurm' });
      return status?.conditions?.some(
        ({ type, status: is }) => type === conditionType.ready && is === 'True',
      );
    });
    await stage.cluster.node(third).start();
    await stage.kubectl.run(['taint', 'node', third, 'node.kubernetes.io/out-of-service-']);
    await allWell();
  });
});
