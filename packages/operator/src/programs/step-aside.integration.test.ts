/** Only the last ready replica on a cordoned node steps aside, and only where no other node takes its replacement. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApiServer } from '@slurm-operator/apiserver';
import {
  type Client,
  createClient,
  kubeconfigConfig,
  type Node,
  namespaces,
  nodes,
  pods,
  silent,
  systemClock,
} from '@slurm-operator/kube';
import { aPod } from '@slurm-operator/kube/testing';
import { isLastReplica, StepAside, takesReplica } from './step-aside.ts';

const ready = { conditions: [{ type: 'Ready', status: 'True' }] };

test('a node takes a replica when it is ready, not cordoned, and has no taint that keeps the pod off', () => {
  const node = (spec: object, status: object = ready) => ({ metadata: { name: 'n' }, spec, status }) as Node;
  const taint = (effect: string) => ({ taints: [{ key: 'k', effect }] });
  assert.equal(takesReplica({}, node({})), true);
  assert.equal(takesReplica({}, node(taint('PreferNoSchedule'))), true);
  assert.equal(takesReplica({}, node({ unschedulable: true })), false);
  assert.equal(takesReplica({}, node(taint('NoSchedule'))), false);
  assert.equal(takesReplica({}, node(taint('NoExecute'))), false);
  assert.equal(takesReplica({}, node({}, { conditions: [{ type: 'Ready', status: 'Unknown' }] })), false);
});

test('a node takes a replica only by its nodeSelector, its affinity and its tolerations', () => {
  const node = (labels: Record<string, string>, spec: object = {}) =>
    ({ metadata: { name: 'n', labels }, spec, status: ready }) as Node;
  const nodeSelector = { role: 'infra' };
  assert.equal(takesReplica({ nodeSelector }, node({})), false);
  assert.equal(takesReplica({ nodeSelector }, node({ role: 'infra' })), true);
  assert.equal(
    takesReplica({ nodeSelector, nodeName: 'elsewhere' }, node({ role: 'infra' })),
    true,
    'where the pod runs now says nothing about its replacement',
  );
  const required = {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'role', operator: 'Exists' as const }] }],
  };
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
  assert.equal(takesReplica({ affinity }, node({})), false);
  const tainted = node({}, { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] });
  assert.equal(takesReplica({}, tainted), false);
  assert.equal(takesReplica({ tolerations: [{ key: 'k', operator: 'Exists' }] }, tainted), true);
});

test('a replica is the last one when a peer waits for a node and no peer is ready', () => {
  const pod = (uid: string, { node = 'a', isReady = true, isDeleted = false, owner = 'set' } = {}) =>
    aPod({
      metadata: {
        name: uid,
        uid,
        ownerReferences: [{ uid: owner, controller: true }],
        ...(isDeleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      },
      spec: node === '' ? {} : { nodeName: node },
      status: isReady ? ready : {},
    });
  const waiting = pod('waiting', { node: '', isReady: false });
  const own = pod('own');
  assert.equal(isLastReplica(own, [own]), false, 'one replica has no budget');
  assert.equal(isLastReplica(own, [own, pod('peer')]), false, 'a cordon alone: both are ready');
  assert.equal(isLastReplica(own, [own, pod('peer'), waiting]), false, 'the budget lets one of them go');
  assert.equal(isLastReplica(own, [own, pod('peer', { isDeleted: true }), waiting]), true);
  assert.equal(isLastReplica(own, [own, waiting]), true);
  assert.equal(isLastReplica(own, [own, pod('peer', { isReady: false })]), false, 'a peer that starts');
  assert.equal(isLastReplica(own, [own, pod('other', { node: '', isReady: false, owner: 'other' })]), false);
});

test('both replicas stay ready on a cordoned node until a drain evicts one and no other node takes it', async (t) => {
  const api = await startApiServer();
  const client = createClient(await kubeconfigConfig({ text: api.kubeconfig() }), { userAgent: 'test' });
  t.after(async () => {
    client.close();
    await api.stop();
  });
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  for (const name of ['a', 'b']) {
    const labels = { role: name === 'a' ? 'infra' : 'compute' };
    await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } });
    await client.mergePatch(nodes, { name }, { status: ready }, { subresource: 'status' });
    // A new node is tainted until a controller has seen that it is ready.
    await client.mergePatch(nodes, { name }, { spec: { taints: null } });
  }
  const cordon = (name: string, unschedulable: boolean) =>
    client.mergePatch(nodes, { name }, { spec: { unschedulable, taints: null } });
  const look = async (name: string) => {
    const aside = new StepAside(client, { namespace, name, node: 'a' }, { clock: systemClock, log: silent });
    await aside.look(AbortSignal.timeout(30_000));
    return aside.check();
  };
  await createReplica(client, 'one', 'a');
  await createReplica(client, 'two', 'a');
  assert.equal(await look('one'), undefined);
  await cordon('a', true);
  await cordon('b', true);
  assert.equal(await look('one'), undefined, 'a cordon alone does not make a replica unready');
  assert.equal(await look('two'), undefined);
  await client.delete(pods, { namespace, name: 'one' }, { gracePeriodSeconds: 0 });
  await createReplica(client, 'three', undefined);
  assert.match((await look('two')) ?? '', /^node a is cordoned, this is the last ready replica/);
  await cordon('b', false);
  assert.match(
    (await look('two')) ?? '',
    /no other node can run its replacement/,
    'node b does not have the label of nodeSelector',
  );
  await client.mergePatch(nodes, { name: 'b' }, { metadata: { labels: { role: 'infra' } } });
  assert.equal(await look('two'), undefined, 'node b takes the replacement');
  await cordon('b', true);
  assert.notEqual(await look('two'), undefined);
  await cordon('a', false);
  assert.equal(await look('two'), undefined);
});

const namespace = 'slinky';

async function createReplica(client: Client, name: string, node: string | undefined): Promise<void> {
  const ownerReferences = [
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'set', uid: 'set', controller: true },
  ];
  await client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, ownerReferences },
    spec: {
      ...(node === undefined ? {} : { nodeName: node }),
      nodeSelector: { role: 'infra' },
      serviceAccountName: 'default',
      containers: [{ name: 'c', image: 'i' }],
    },
  } as never);
  if (node !== undefined)
    await client.mergePatch(pods, { namespace, name }, { status: ready }, { subresource: 'status' });
}
