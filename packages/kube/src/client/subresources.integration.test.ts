/** Scale, eviction, patches and collections on the embedded API server. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startApiServer } from '@slurm-operator/apiserver';
import {
  ConflictError,
  configMaps,
  createClient,
  evict,
  getScale,
  InvalidError,
  kubeconfigConfig,
  podDisruptionBudgets,
  pods,
  setScale,
  statefulSets,
  TooManyRequestsError,
} from '../index.ts';

const namespace = 'default';
const labels = { app: 'web' };

async function connect(t: TestContext) {
  const server = await startApiServer();
  const client = createClient(await kubeconfigConfig({ text: server.kubeconfig() }), { rateLimit: false });
  t.after(async () => {
    client.close();
    await server.stop();
  });
  const pod = (name: string) =>
    client.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, name, labels },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
  return { server, client, pod };
}

test('reads and sets the scale without changing the rest', async (t) => {
  const { client } = await connect(t);
  const ref = { namespace, name: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  await client.create(statefulSets, {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: ref,
    spec: { replicas: 2, serviceName: 'web', selector: { matchLabels: labels }, template },
  });
  const scale = await getScale(client, statefulSets, ref);
  assert.deepEqual([scale.kind, scale.spec?.replicas, scale.status?.selector], ['Scale', 2, 'app=web']);
  assert.equal((await setScale(client, statefulSets, ref, 5)).spec?.replicas, 5);
  const { spec } = await client.get(statefulSets, ref);
  assert.deepEqual([spec?.replicas, spec?.serviceName], [5, 'web']);
  await assert.rejects(setScale(client, statefulSets, ref, -1), InvalidError);
});

test('an eviction respects disruption budgets and uids', async (t) => {
  const { client, pod } = await connect(t);
  const free = await pod('free');
  await assert.rejects(evict(client, free.metadata, { uid: 'another' }), ConflictError);
  await evict(client, free.metadata, { uid: free.metadata.uid });
  assert.equal(await client.find(pods, free.metadata), undefined);

  const held = await pod('held');
  const running = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await client.mergePatch(pods, held.metadata, { status: running }, { subresource: 'status' });
  const budget = await client.create(podDisruptionBudgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { namespace, name: 'keep' },
    spec: { minAvailable: 1, selector: { matchLabels: labels } },
  });
  const status = {
    observedGeneration: 1,
    disruptionsAllowed: 0,
    currentHealthy: 1,
    desiredHealthy: 1,
    expectedPods: 1,
  };
  await client.mergePatch(podDisruptionBudgets, budget.metadata, { status }, { subresource: 'status' });
  await assert.rejects(evict(client, held.metadata), TooManyRequestsError);
  assert.ok(await client.find(pods, held.metadata));
});

test('JSON and strategic patches have their content types; a failed test operation changes nothing', async (t) => {
  const { client, pod } = await connect(t);
  const { metadata } = await pod('p');
  const patched = await client.patch(pods, metadata, {
    type: 'json',
    body: [
      { op: 'test', path: '/metadata/labels/app', value: 'web' },
      { op: 'add', path: '/metadata/labels/more', value: 'yes' },
    ],
  });
  assert.deepEqual(patched.metadata.labels, { app: 'web', more: 'yes' });
  const refused = client.patch(pods, metadata, {
    type: 'json',
    body: [
      { op: 'test', path: '/metadata/labels/app', value: 'other' },
      { op: 'remove', path: '/metadata/labels/more' },
    ],
  });
  await assert.rejects(refused, InvalidError);
  const body = { spec: { containers: [{ name: 'c', image: 'j' }] } };
  const merged = await client.patch(pods, metadata, { type: 'strategic', body });
  assert.equal(merged.spec?.containers[0]?.image, 'j');
  assert.ok(merged.spec?.containers[0]?.terminationMessagePath, 'the rest of the container is still there');
  assert.equal(merged.metadata.labels?.['more'], 'yes');
});

test('deleteCollection deletes only objects that match the selector', async (t) => {
  const { client } = await connect(t);
  for (const [name, app] of [
    ['a', 'web'],
    ['b', 'web'],
    ['c', 'other'],
  ] as const)
    await client.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace, name, labels: { app } },
    });
  await client.deleteCollection(configMaps, { namespace, labelSelector: 'app=web' });
  const left = (await client.list(configMaps, { namespace, pageSize: 1 })).items.map(
    ({ metadata }) => metadata.name,
  );
  assert.deepEqual(left, ['c', 'kube-root-ca.crt']);
});
