/** A replica on a cordoned node steps aside only where no other node takes pods. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApiServer } from '@slurm-operator/apiserver';
import { createClient, kubeconfigConfig, type Node, nodes, silent, systemClock } from '@slurm-operator/kube';
import { StepAside, takesPods } from './step-aside.ts';

const ready = { conditions: [{ type: 'Ready', status: 'True' }] };

test('a node takes pods when it is ready, not cordoned, and has no taint that keeps pods off', () => {
  const node = (spec: object, status: object = ready) => ({ metadata: { name: 'n' }, spec, status }) as Node;
  const taint = (effect: string) => ({ taints: [{ key: 'k', effect }] });
  assert.equal(takesPods(node({})), true);
  assert.equal(takesPods(node(taint('PreferNoSchedule'))), true);
  assert.equal(takesPods(node({ unschedulable: true })), false);
  assert.equal(takesPods(node(taint('NoSchedule'))), false);
  assert.equal(takesPods(node(taint('NoExecute'))), false);
  assert.equal(takesPods(node({}, { conditions: [{ type: 'Ready', status: 'Unknown' }] })), false);
});

test('it is ready until its node is cordoned and no other is left, and again after that', async (t) => {
  const api = await startApiServer();
  const client = createClient(await kubeconfigConfig({ text: api.kubeconfig() }), { userAgent: 'test' });
  t.after(async () => {
    client.close();
    await api.stop();
  });
  for (const name of ['a', 'b']) {
    await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
    await client.mergePatch(nodes, { name }, { status: ready }, { subresource: 'status' });
    // A new node is tainted until a controller has seen that it is ready.
    await client.mergePatch(nodes, { name }, { spec: { taints: null } });
  }
  const cordon = (name: string, unschedulable: boolean) =>
    client.mergePatch(nodes, { name }, { spec: { unschedulable, taints: null } });
  const aside = new StepAside(client, 'a', { clock: systemClock, log: silent });
  const look = async () => {
    await aside.look(AbortSignal.timeout(30_000));
    return aside.check();
  };
  assert.equal(await look(), undefined);
  await cordon('a', true);
  assert.equal(await look(), undefined, 'the other node takes the replica');
  await cordon('b', true);
  assert.match((await look()) ?? '', /^node a is cordoned and no other node takes pods/);
  await cordon('a', false);
  assert.equal(await look(), undefined);
});
