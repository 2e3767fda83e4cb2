/** An autoscaled NodeSet on the embedded API server, with a fake Slurm: from records to pods and back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatNodeState } from '@slurm-operator/slurm';
import { NodeSetStage } from '../../../../testing/nodeset-stage.ts';
import { nodeSets } from '../../../cache/resources.ts';

const spec = {
  slurmd: { resources: { limits: { cpu: '4', memory: '4000Mi' } } },
  autoscale: { max: 3, idleAfter: '1s' },
};

test('records are created once, a job wakes its workers together, and idle ones sleep again', async () => {
  await using stage = await NodeSetStage.open(3);
  const { slurm } = stage;
  const states = () => [...slurm.nodes.values()].map(({ state }) => formatNodeState(state));
  const pods = async () => (await stage.pods()).map(({ metadata }) => metadata.name);
  await stage.startOperator();
  await stage.createNodeSet('w', spec);
  await stage.until(
    '3 nodes sleep and say whose they are',
    () =>
      [...slurm.nodes.values()].every(({ comment }) => comment.includes('"nodeSetName":"w"')) &&
      slurm.nodes.size === 3,
  );
  assert.deepEqual(
    slurm.asked.filter((asked) => asked.startsWith('create')),
    ['create NodeName=w-[0-2] CPUs=4 Feature=w RealMemory=4000 State=CLOUD'],
  );
  await stage.until('the NodeSet is ready at zero', async () => {
    const set = await stage.nodeSet('w');
    const ready = set?.status?.conditions?.find(({ type }) => type === 'Ready');
    return ready?.reason === 'ScaledToZero' && set?.status?.autoscale?.sleeping === 3;
  });
  assert.deepEqual(await pods(), []);

  for (const name of ['w-0', 'w-1']) slurm.allocate(name);
  await stage.until(
    'both workers are in service',
    async () => (await stage.nodeSet('w'))?.status?.autoscale?.awake === 2,
  );
  const created = await stage.pods();
  assert.deepEqual(
    created.map(({ metadata }) => metadata.name),
    ['w-0', 'w-1'],
  );
  assert.equal(created[0]?.metadata.annotations?.['karpenter.sh/do-not-disrupt'], 'true');
  assert.equal(created[0]?.metadata.annotations?.['cluster-autoscaler.kubernetes.io/safe-to-evict'], 'false');

  slurm.occupy('w-0', false);
  await stage.until('the idle worker is gone', async () => (await pods()).join() === 'w-1');
  await stage.until(
    'its node sleeps again',
    () => states().filter((state) => state.includes('POWERED_DOWN')).length === 2,
  );
  slurm.occupy('w-1', false);
  await stage.until('all are gone', async () => (await pods()).length === 0);
  await stage.until('all sleep', () => states().every((state) => state.includes('POWERED_DOWN')));
});

test('autoscale can be switched on and off while a job runs', async () => {
  await using stage = await NodeSetStage.open(3);
  const { slurm } = stage;
  await stage.startOperator();
  await stage.createNodeSet('w', { slurmd: spec.slurmd, replicas: 2 });
  await stage.untilReady('w', 2);
  slurm.occupy('w-1', true);
  const uid = (await stage.pods())[1]?.metadata.uid;
  await stage.patchNodeSet('w', { autoscale: { max: 3, idleAfter: '1s' } });
  await stage.until('the idle worker is gone', async () => (await stage.pods()).length === 1);
  await stage.until('3 nodes are there', () => slurm.nodes.size === 3);
  assert.equal((await stage.pods())[0]?.metadata.uid, uid, 'the worker with the job stays');
  await stage.patchNodeSet('w', { autoscale: null });
  await stage.until('there are two workers again', async () => (await stage.pods()).length === 2);
  assert.ok(
    (await stage.pods()).some(({ metadata }) => metadata.uid === uid),
    'the worker with the job stays',
  );
  await stage.until('no sleeping node is left', () =>
    [...slurm.nodes.values()].every(({ state }) => !state.flags.has('POWERED_DOWN')),
  );
});

test('an operator that starts forbids the requeue of jobs that the one before left requeueable', async () => {
  await using stage = await NodeSetStage.open(1);
  await stage.createNodeSet('w', spec);
  const { namespace } = (await stage.nodeSet('w'))?.metadata ?? {};
  const ref = { namespace, name: 'w' };
  await stage.client.mergePatch(
    nodeSets,
    ref,
    { status: { requeueableJobs: ['7', '8'] } },
    { subresource: 'status' },
  );
  assert.deepEqual((await stage.nodeSet('w'))?.status?.requeueableJobs, ['7', '8']);
  await stage.startOperator();
  const forbidden = ['job 7: {"requeue":false}', 'job 8: {"requeue":false}'];
  await stage.until('both are told to Slurm', () =>
    forbidden.every((request) => stage.slurm.asked.includes(request)),
  );
  await stage.until(
    'the status no longer names them',
    async () => (await stage.nodeSet('w'))?.status?.requeueableJobs === undefined,
  );
});
