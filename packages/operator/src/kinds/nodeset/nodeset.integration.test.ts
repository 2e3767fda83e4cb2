/** The NodeSet controller on the embedded API server, with a fake kubelet and a fake Slurm. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finalizer, label } from '@slurm-operator/api';
import { controllerRevisions, nodes, pods } from '@slurm-operator/kube';
import { NodeSetStage } from '../../../testing/nodeset-stage.ts';
import { nodeSets } from '../../cache/resources.ts';

const workerNames = async (stage: NodeSetStage) => (await stage.pods()).map((pod) => pod.metadata.name);

test('workers come, join Slurm, and a second look at everything writes nothing', async () => {
  await using stage = await NodeSetStage.open();
  await stage.createNodeSet('gpu', { replicas: 3 });
  await stage.startOperator();
  await stage.untilReady('gpu', 3);
  assert.deepEqual(await workerNames(stage), ['gpu-0', 'gpu-1', 'gpu-2']);
  await stage.until('every node has its comment', () =>
    [...stage.slurm.nodes.values()].every((node) => node.comment.includes('"nodeSetName":"gpu"')),
  );
  await stage.until('every pod shows the state of its node', async () =>
    (await stage.pods()).every((pod) =>
      pod.status?.conditions?.some((condition) => condition.type === 'SlurmNodeStateIdle'),
    ),
  );

  await stage.stopOperator();
  const before = stage.writes().length;
  await stage.startOperator();
  stage.slurm.poll();
  await stage.untilReady('gpu', 3);
  await stage.stopOperator();
  assert.deepEqual(stage.writes().slice(before), []);
});

test('scale-in waits for the job, then deletes the pod, then the record; unknown keeps everything', async () => {
  await using stage = await NodeSetStage.open();
  await stage.createNodeSet('gpu', { replicas: 2 });
  await stage.startOperator();
  await stage.untilReady('gpu', 2);
  for (const node of ['gpu-0', 'gpu-1']) stage.slurm.occupy(node, true);
  await stage.patchNodeSet('gpu', { replicas: 1 });
  await stage.until('a node is drained', () => stage.slurm.asked.some((asked) => asked.startsWith('DRAIN')));
  const victim = stage.slurm.asked.find((asked) => asked.startsWith('DRAIN'))?.split(' ')[1] ?? '';
  assert.equal(victim, 'gpu-1', 'the higher ordinal');

  stage.slurm.setReachable(false);
  await stage.until(
    'the NodeSet says that Slurm is unknown',
    async () =>
      (await stage.nodeSet('gpu'))?.status?.conditions?.some(
        (condition) => condition.reason === 'SlurmUnknown',
      ) ?? false,
  );
  assert.equal((await stage.pods()).length, 2);

  stage.slurm.setReachable(true);
  await stage.until(
    'the condition says what is waited for',
    async () =>
      (await stage.nodeSet('gpu'))?.status?.conditions?.some(
        (condition) => condition.reason === 'Draining' && /wait for jobs/.test(condition.message),
      ) ?? false,
  );
  assert.equal((await stage.pods()).length, 2);
  stage.slurm.occupy('gpu-1', false);
  await stage.until('the worker is gone', async () => (await stage.pods()).length === 1);
  await stage.until('so is its record', () => !stage.slurm.nodes.has('gpu-1'));
});

test('a reversal in the middle of a scale-in gives the node back', async () => {
  await using stage = await NodeSetStage.open();
  await stage.createNodeSet('gpu', { replicas: 2 });
  await stage.startOperator();
  await stage.untilReady('gpu', 2);
  for (const node of ['gpu-0', 'gpu-1']) stage.slurm.occupy(node, true);
  await stage.patchNodeSet('gpu', { replicas: 1 });
  await stage.until(
    'the node is drained',
    () => stage.slurm.nodes.get('gpu-1')?.state.flags.has('DRAIN') ?? false,
  );
  await stage.patchNodeSet('gpu', { replicas: 2 });
  await stage.until(
    'the node is undrained',
    () => stage.slurm.nodes.get('gpu-1')?.state.flags.has('DRAIN') === false,
  );
  await stage.until('the pod is uncordoned', async () =>
    (await stage.pods()).every(
      (pod) => pod.metadata.annotations?.['nodeset.slinky.slurm.net/pod-cordon'] === undefined,
    ),
  );
  assert.equal((await stage.pods()).length, 2);
});

test('a rollout replaces one at a time, and undrains only the new slurmd', async () => {
  await using stage = await NodeSetStage.open();
  await stage.createNodeSet('gpu', { replicas: 3, updateStrategy: { rollingUpdate: { maxUnavailable: 1 } } });
  await stage.startOperator();
  await stage.untilReady('gpu', 3);
  const old = new Set((await stage.pods()).map((pod) => pod.metadata.uid));
  await stage.patchNodeSet('gpu', { slurmd: { image: 'slurm-operator/slurmd:26.05-1' } });
  await stage.until('all workers are new', async () => {
    const workers = await stage.pods();
    return workers.length === 3 && workers.every((pod) => !old.has(pod.metadata.uid));
  });
  await stage.untilReady('gpu', 3);
  await stage.until('nothing is drained', () =>
    [...stage.slurm.nodes.values()].every((node) => !node.state.flags.has('DRAIN')),
  );
  assert.deepEqual(await workerNames(stage), ['gpu-0', 'gpu-1', 'gpu-2'], 'names stay');
});

test('deleting a NodeSet drains, then leaves nothing behind', async () => {
  await using stage = await NodeSetStage.open();
  await stage.createNodeSet('gpu', { replicas: 2 });
  await stage.startOperator();
  await stage.untilReady('gpu', 2);
  stage.slurm.occupy('gpu-0', true);
  await stage.client.delete(
    { apiVersion: 'slinky.slurm.net/v1beta1', kind: 'NodeSet', plural: 'nodesets', namespaced: true },
    { namespace: 'slurm', name: 'gpu' },
  );
  await stage.until('the idle worker is gone', async () => (await workerNames(stage)).join() === 'gpu-0');
  assert.ok(await stage.nodeSet('gpu'), 'the NodeSet waits for the job');
  stage.slurm.occupy('gpu-0', false);
  await stage.until('the NodeSet is gone', async () => (await stage.nodeSet('gpu')) === undefined);
  assert.deepEqual([...stage.slurm.nodes.keys()], []);
  assert.deepEqual(await workerNames(stage), []);
});

test('a NodeSet that upstream reserved a window for can be deleted, with the finalizer that upstream left', async () => {
  await using stage = await NodeSetStage.open();
  const metadata = { finalizers: [finalizer.reservation] };
  for (const name of ['gpu', 'gone']) {
    await stage.createNodeSet(name, { replicas: 1 });
    await stage.client.mergePatch(nodeSets, { namespace: 'slurm', name }, { metadata });
  }
  await stage.client.delete(nodeSets, { namespace: 'slurm', name: 'gone' });
  await stage.startOperator();
  await stage.untilReady('gpu', 1);
  await stage.client.delete(nodeSets, { namespace: 'slurm', name: 'gpu' });
  for (const [name, when] of [
    ['gone', 'before the operator started'],
    ['gpu', 'while it runs'],
  ] as const)
    await stage.until(
      `the NodeSet that was deleted ${when} is gone`,
      async () => (await stage.nodeSet(name)) === undefined,
    );
});

test('DaemonSet mode follows the machines, new ones too', async () => {
  await using stage = await NodeSetStage.open(2);
  await stage.createNodeSet('all', { scalingMode: 'DaemonSet' });
  await stage.startOperator();
  await stage.untilReady('all', 2);
  assert.deepEqual([...stage.slurm.nodes.keys()].toSorted(), ['machine-0', 'machine-1']);
  await stage.addMachine('machine-2');
  await stage.untilReady('all', 3);
});

test('the budget of busy workers allows nothing, however few replicas are desired, and replaces another operator’s', async () => {
  await using stage = await NodeSetStage.open();
  const budgets = '/apis/policy/v1/namespaces/slurm/poddisruptionbudgets';
  const selector = { matchLabels: { a: 'b' } };
  await stage.client.json('POST', budgets, {
    body: {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'slurm-workers-pdb-main', namespace: 'slurm' },
      spec: { maxUnavailable: 0, selector },
    },
  });
  await stage.startOperator();
  await stage.createNodeSet('w', { replicas: 1 });
  await stage.untilQuiet('w', 1);
  const { spec } = await stage.client.json<{ spec: object }>('GET', `${budgets}/slurm-workers-pdb-main`);
  assert.deepEqual(spec, {
    minAvailable: 2 ** 31 - 1,
    selector: {
      matchLabels: {
        'nodeset.slinky.slurm.net/pod-protect': 'true',
        'slinky.slurm.net/cluster': 'main',
      },
    },
  });
});

test('what NodeSets share outlives those that upstream made it for: the Controller becomes an owner', async () => {
  await using stage = await NodeSetStage.open();
  await stage.createNodeSet('old', { replicas: 0 });
  const old = await stage.nodeSet('old');
  const { uid } = old?.metadata ?? {};
  const ofOld = { apiVersion: 'slinky.slurm.net/v1beta1', kind: 'NodeSet', name: 'old', uid };
  const ownerReferences = [{ ...ofOld, blockOwnerDeletion: true }];
  const shared = {
    '/api/v1/namespaces/slurm/services': {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'slurm-workers-main', namespace: 'slurm', ownerReferences },
      spec: { clusterIP: 'None', selector: { a: 'b' }, ports: [{ port: 6818 }] },
    },
    '/apis/policy/v1/namespaces/slurm/poddisruptionbudgets': {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'slurm-workers-pdb-main', namespace: 'slurm', ownerReferences },
      spec: { maxUnavailable: 0, selector: { matchLabels: { a: 'b' } } },
    },
  };
  for (const [path, body] of Object.entries(shared)) await stage.client.json('POST', path, { body });
  await stage.createNodeSet('w', { replicas: 1 });
  await stage.startOperator();
  await stage.untilQuiet('w', 1);
  for (const [path, { metadata }] of Object.entries(shared)) {
    const live = await stage.client.json<{ metadata: { ownerReferences: { kind: string }[] } }>(
      'GET',
      `${path}/${metadata.name}`,
    );
    const owners = live.metadata.ownerReferences.map(({ kind }) => kind);
    assert.deepEqual(owners, ['NodeSet', 'Controller'], metadata.name);
  }
  await stage.stopOperator();
  const before = stage.writes().length;
  await stage.startOperator();
  await stage.untilQuiet('w', 1);
  assert.deepEqual(stage.writes().slice(before), []);
});

test('a pod that lost its owner is adopted, one that lost our labels is let go and its place filled elsewhere', async () => {
  await using stage = await NodeSetStage.open();
  await stage.startOperator();
  await stage.createNodeSet('w', { replicas: 2 });
  await stage.untilQuiet('w', 2);
  const uidOf = async (name: string) =>
    (await stage.pods()).find((pod) => pod.metadata.name === name)?.metadata.uid;
  const owners = async (name: string) =>
    (await stage.pods()).find((pod) => pod.metadata.name === name)?.metadata.ownerReferences ?? [];
  const patch = (name: string, metadata: object) =>
    stage.client.mergePatch(pods, { namespace: 'slurm', name }, { metadata });

  const before = await uidOf('w-0');
  await patch('w-0', { ownerReferences: null });
  await stage.until('w-0 is adopted', async () =>
    (await owners('w-0')).some((owner) => owner.controller === true),
  );
  assert.equal(await uidOf('w-0'), before, 'the very pod');

  await patch('w-1', { labels: { 'app.kubernetes.io/instance': 'mine' } });
  await stage.until('w-1 is let go', async () => (await owners('w-1')).length === 0);
  await stage.until('another ordinal serves', async () => (await uidOf('w-2')) !== undefined);
  await stage.until('the set is whole', async () => (await stage.nodeSet('w'))?.status?.readyReplicas === 2);
  assert.ok(await uidOf('w-1'), 'the new owner keeps it');
  assert.ok(stage.slurm.nodes.has('w-1'), 'and its node');
  assert.ok(!stage.slurm.nodes.get('w-1')?.state.flags.has('DRAIN'));
});

test('the condition names a pod that has a worker’s name and another owner', async () => {
  await using stage = await NodeSetStage.open();
  await stage.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'w-0',
      namespace: 'slurm',
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'w', uid: 'another', controller: true },
      ],
    },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  });
  await stage.startOperator();
  await stage.createNodeSet('w', { replicas: 1 });
  await stage.until('it says so', async () =>
    ((await stage.nodeSet('w'))?.status?.conditions ?? []).some(
      ({ type, reason, message }) =>
        type === 'Ready' && reason === 'NameConflict' && /pod w-0 exists/.test(message),
    ),
  );
});

test('a topology that Slurm does not have is reported, not retried at once, and affects no other worker', async () => {
  await using stage = await NodeSetStage.open(2);
  stage.slurm.topologies = new Set(['topo:rack1']);
  const annotate = (name: string, topology: string) =>
    stage.client.mergePatch(
      nodes,
      { name },
      { metadata: { annotations: { 'topology.slinky.slurm.net/spec': topology } } },
    );
  await annotate('machine-0', 'topo:nowhere');
  await annotate('machine-1', 'topo:rack1');
  await stage.createNodeSet('gpu', { scalingMode: 'DaemonSet' });
  const began = Date.now();
  await stage.startOperator();
  const degraded = async () =>
    (await stage.nodeSet('gpu'))?.status?.conditions?.find((condition) => condition.type === 'Degraded');
  await stage.until('the refusal is told', async () => (await degraded())?.reason === 'UpdateRefused');
  assert.match((await degraded())?.message ?? '', /topo:nowhere of gpu-.*"Invalid topology specification"/);
  await stage.until('everything else is noted', () =>
    [...stage.slurm.nodes.values()].every((node) => node.comment.includes('"nodeSetName":"gpu"')),
  );
  await stage.until(
    'the other has its topology',
    () => stage.slurm.nodes.get('machine-1')?.topology === 'topo:rack1',
  );
  for (let look = 0; look < 5; look += 1) stage.slurm.poll();
  await stage.until(
    'it is Ready all the same',
    async () => (await stage.nodeSet('gpu'))?.status?.readyReplicas === 2,
  );
  const tries = stage.slurm.asked.filter((asked) => asked.includes('topo:nowhere')).length;
  assert.ok(
    tries >= 1 && tries <= 1 + (Date.now() - began) / 60_000,
    `${tries} tries, a minute apart at least`,
  );

  await annotate('machine-0', 'topo:rack1');
  await stage.until(
    'the new one is asked for at once',
    () => stage.slurm.nodes.get('machine-0')?.topology === 'topo:rack1',
  );
  await stage.until('nothing is wrong any more', async () => (await degraded())?.reason === 'AsExpected');
});

test('a worker recreated below the partition keeps its revision; above it has the newest', async () => {
  await using stage = await NodeSetStage.open();
  const image = (tag: string) => ({ slurmd: { image: `slurmd:${tag}` } });
  const images = async () =>
    Object.fromEntries(
      (await stage.pods()).map((pod) => [pod.metadata.name, pod.spec?.containers[0]?.image?.split(':')[1]]),
    );
  await stage.createNodeSet('gpu', { replicas: 2, ...image('1') });
  await stage.startOperator();
  await stage.untilQuiet('gpu', 2);
  await stage.patchNodeSet('gpu', { ...image('2'), updateStrategy: { rollingUpdate: { partition: 1 } } });
  await stage.until('the worker above is new', async () => (await images())['gpu-1'] === '2');

  const before = (await stage.pods()).find((pod) => pod.metadata.name === 'gpu-0')?.metadata;
  // The operator that recreates it need not be the one that observed it.
  await stage.stopOperator();
  await stage.client.delete(pods, { namespace: 'slurm', name: 'gpu-0' });
  await stage.startOperator();
  await stage.until('the worker below is recreated', async () =>
    (await stage.pods()).some(({ metadata }) => metadata.name === 'gpu-0' && metadata.uid !== before?.uid),
  );
  assert.deepEqual(await images(), { 'gpu-0': '1', 'gpu-1': '2' });
  const [made] = await stage.pods();
  assert.equal(made?.metadata.labels?.[label.revision], before?.labels?.[label.revision]);

  await stage.patchNodeSet('gpu', { updateStrategy: { rollingUpdate: { partition: 0 } } });
  await stage.until('both are new', async () => Object.values(await images()).join() === '2,2');
});

test('a revision that was left without an owner is taken over', async () => {
  await using stage = await NodeSetStage.open();
  await stage.createNodeSet('gpu', { replicas: 1 });
  await stage.startOperator();
  await stage.untilReady('gpu', 1);
  await stage.stopOperator();
  const { items } = await stage.client.list(controllerRevisions, { namespace: 'slurm' });
  const [revision] = items;
  assert.ok(revision !== undefined && items.length === 1);
  const { uid } = (await stage.nodeSet('gpu'))?.metadata ?? {};
  const orphaned = { metadata: { ownerReferences: null } };
  await stage.client.mergePatch(controllerRevisions, revision.metadata, orphaned);
  await stage.startOperator();
  await stage.until('it is ours again', async () => {
    const found = await stage.client.get(controllerRevisions, revision.metadata);
    return found.metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.controller) ?? false;
  });
});

test('the status of a NodeSet that no longer schedules its updates has no condition of a reservation', async () => {
  await using stage = await NodeSetStage.open();
  await stage.createNodeSet('gpu', { replicas: 1 });
  await stage.startOperator();
  await stage.untilReady('gpu', 1);
  const condition = async () =>
    (await stage.nodeSet('gpu'))?.status?.conditions?.find(({ type }) => type === 'ReservationCreated');
  const scheduledUpdate = { startTime: '2099-01-01T00:00:00Z', duration: '1h' };
  await stage.patchNodeSet('gpu', { updateStrategy: { type: 'ScheduledUpdate', scheduledUpdate } });
  await stage.until('the reservation is made', async () => (await condition())?.status === 'True');
  await stage.patchNodeSet('gpu', { updateStrategy: { type: 'RollingUpdate', scheduledUpdate: null } });
  await stage.until('the condition is gone', async () => (await condition()) === undefined);
});
