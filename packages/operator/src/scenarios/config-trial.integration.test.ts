/** What the trial of a configuration cannot tell in its first pod is tried with the resources of a worker before it is in force. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { annotation, app, conditionType, label } from '@slurm-operator/api';
import { configMaps, type Live, nodes, type Pod, pods } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { aController, aNodeSet } from '../../testing/objects.ts';
import { type OperatorWorld, startOperatorWorld } from '../../testing/operator-world.ts';
import { controllers, nodeSets } from '../cache/resources.ts';

const namespace = 'hpc';
const slurm = { namespace, name: 'slurm' };
const [cpu, gpus] = [{ cpu: '50m', memory: '64Mi' }, { 'nvidia.com/gpu': 8 }];
let world: OperatorWorld;

before(async () => {
  world = await startOperatorWorld(undefined, undefined, { passesTrials: false });
  await world.operate();
  await world.putSecret('slurm-auth', 'slurm.key', 'k'.repeat(64));
  await world.putSecret('slurm-jwt', 'jwt.key', 'k'.repeat(64));
  await world.put(controllers, aController());
  await world.put(
    nodeSets,
    aNodeSet({ replicas: 0, slurmd: { resources: { limits: gpus } } }, { name: 'gpu' }),
  );
  await runWorker();
  await until(
    'the first configuration is in force',
    async () => (await world.client.get(controllers, slurm)).status?.configHash,
  );
});
after(() => world.stop());

/** A worker whose slurmd runs, of the NodeSet gpu; it has no owner, so nothing replaces it. */
async function runWorker(): Promise<void> {
  await world.client.create(nodes, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', labels: { 'kubernetes.io/arch': 'amd64' } },
  });
  const metadata = {
    name: 'gpu-0',
    namespace,
    labels: { [label.name]: app.worker, [label.instance]: 'gpu', [label.cluster]: 'slurm' },
  };
  await world.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { nodeName: 'n1', containers: [{ name: app.worker, image: 'slurmd:gpu' }] },
  });
  const slurmd = { name: app.worker, image: 'slurmd:gpu', imageID: '', ready: true, restartCount: 0 };
  await setStatus('gpu-0', {
    phase: 'Running',
    containerStatuses: [{ ...slurmd, state: { running: { startedAt: new Date().toISOString() } } }],
  });
}

const setStatus = (name: string, status: object) =>
  world.client.mergePatch(pods, { namespace, name }, { status }, { subresource: 'status' });

/** The pod of a trial ends so. */
const ends = (name: string, exitCode: number, message: string) =>
  setStatus(name, {
    phase: exitCode === 0 ? 'Succeeded' : 'Failed',
    containerStatuses: [
      {
        name: app.controller,
        image: 'slurmctld',
        imageID: '',
        ready: false,
        restartCount: 0,
        state: { terminated: { exitCode, message } },
      },
    ],
  });

const trialPod = (name: string, not?: Live<Pod>) =>
  until(`pod ${name}`, async () => {
    const found = await world.client.find(pods, { namespace, name });
    return found?.metadata.uid === not?.metadata.uid ? undefined : found;
  });
const workerIn = (pod: Live<Pod>) => pod.spec?.containers.find(({ name }) => name.startsWith('slurmd-'));
const slurmConf = async () =>
  (await world.client.get(configMaps, { namespace, name: 'slurm-config' })).data?.['slurm.conf'] ?? '';

test('slurmd fails alike with both configurations: a pod with the resources of a worker decides', async () => {
  await world.client.mergePatch(controllers, slurm, { spec: { extraConf: 'MessageTimeout=33' } });
  const first = await trialPod('slurm-config-check');
  const id = workerIn(first)?.name.slice('slurmd-'.length) ?? '';
  assert.deepEqual(workerIn(first)?.resources?.requests, cpu);
  const reason = 'failed it ended: no such device';
  await ends('slurm-config-check', 1, `slurmd ${id} new ${reason}\nslurmd ${id} current ${reason}\n`);
  const second = await trialPod(`slurm-config-check-${id}`);
  assert.deepEqual(workerIn(second)?.resources?.limits, { 'nvidia.com/gpu': '8' });
  assert.doesNotMatch(await slurmConf(), /MessageTimeout=33/, 'nothing is in force before it has a result');

  const unschedulable = '0/1 nodes are available: 1 Insufficient nvidia.com/gpu.';
  const at = { lastTransitionTime: new Date().toISOString() };
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', ...at };
  await setStatus(second.metadata.name, { conditions: [{ ...condition, message: unschedulable }] });
  const untried = await world.said(controllers, 'slurm', conditionType.configApplied, 'ConfigUntried');
  assert.match(untried.message, /Insufficient nvidia\.com\/gpu.*skip-config-trial=/);

  await ends(
    second.metadata.name,
    1,
    `slurmd ${id} new failed it ended: fatal: x\nslurmd ${id} current passed\n`,
  );
  const rejected = await world.said(controllers, 'slurm', conditionType.configApplied, 'ConfigRejected');
  assert.match(rejected.message, /slurmd of image slurmd:gpu: it ended: fatal: x/);
  const degraded = await world.said(controllers, 'slurm', conditionType.degraded, 'ConfigRejected');
  assert.deepEqual([degraded.status, degraded.message], ['True', rejected.message]);
  assert.doesNotMatch(await slurmConf(), /MessageTimeout=33/);
});

test('when the pod with the resources of a worker passes, the configuration is in force and the pods are removed', async () => {
  const previous = await trialPod('slurm-config-check');
  await world.client.mergePatch(controllers, slurm, { spec: { extraConf: 'MessageTimeout=34' } });
  const first = await trialPod('slurm-config-check', previous);
  const id = workerIn(first)?.name.slice('slurmd-'.length) ?? '';
  await ends('slurm-config-check', 1, `slurmd ${id} new failed y\nslurmd ${id} current failed y\n`);
  const second = await until('the second pod of this trial', async () => {
    const found = await world.client.find(pods, { namespace, name: `slurm-config-check-${id}` });
    const digest = found?.metadata.annotations?.['controller.slinky.slurm.net/config-trial'];
    const now = first.metadata.annotations?.['controller.slinky.slurm.net/config-trial'];
    return digest === now ? found : undefined;
  });
  await ends(second.metadata.name, 0, '');
  await world.said(controllers, 'slurm', conditionType.configApplied, 'Applied');
  assert.match(await slurmConf(), /MessageTimeout=34/);
  await until('no pod of a trial', async () => {
    const labelSelector = `${label.name}=config-check`;
    return (await world.client.list(pods, { namespace, labelSelector })).items.length === 0;
  });
});

test('a person puts a configuration in force that no pod can tell about', async () => {
  await world.client.mergePatch(controllers, slurm, { spec: { extraConf: 'MessageTimeout=35' } });
  const first = await trialPod('slurm-config-check');
  const id = workerIn(first)?.name.slice('slurmd-'.length) ?? '';
  const alike = `slurmd ${id} new failed y\nslurmd ${id} current failed y\n`;
  await ends('slurm-config-check', 1, alike);
  const second = await trialPod(`slurm-config-check-${id}`);
  await ends(second.metadata.name, 1, alike);
  const { message } = await world.said(controllers, 'slurm', conditionType.configApplied, 'ConfigUntried');
  assert.match(message, /also in a pod with the resources of a worker/);
  assert.doesNotMatch(await slurmConf(), /MessageTimeout=35/);
  const [, token = ''] = /skip-config-trial=(\w+)/.exec(message) ?? [];
  await world.client.mergePatch(controllers, slurm, {
    metadata: { annotations: { [annotation.skipConfigTrial]: token } },
  });
  await until('it is in force', async () => /MessageTimeout=35/.test(await slurmConf()));
});
