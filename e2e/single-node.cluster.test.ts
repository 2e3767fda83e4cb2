/** On a cluster with one node both replicas of each program run there, and a drain of that node ends in spite of their budgets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podDisruptionBudgets } from '@slurm-operator/kube';
import { needsThisMachine } from './src/given/given-cluster.ts';
import { HelmStage } from './src/helm/helm-stage.ts';
import { installOperator, operatorNamespace } from './src/helm/install.ts';
import { operatorPods, replicasReady } from './src/helm/spread-operator.ts';
import { until } from './src/until.ts';

test('a drain of the only node ends, and the operator is back after it', {
  ...needsThisMachine('it drains the only node'),
  timeout: 1_200_000,
}, async () => {
  await using stage = await HelmStage.open({ name: `single-node-${process.pid}`, nodes: 1 });
  const { client, kubectl, helm, cluster } = stage;
  await installOperator(helm);
  const node = cluster.nodes[0]?.name ?? '';
  assert.equal((await operatorPods(client)).filter(({ spec }) => spec?.nodeName === node).length, 4);
  await until('both budgets allow one eviction', async () => {
    const { items } = await client.list(podDisruptionBudgets, { namespace: operatorNamespace });
    return items.length === 2 && items.every(({ status }) => status?.disruptionsAllowed === 1);
  });
  // Its own time limit would end it as a failure.
  await kubectl.run(['drain', node, '--ignore-daemonsets', '--timeout=240s']);
  assert.deepEqual(
    (await operatorPods(client)).filter(({ spec }) => spec?.nodeName === node),
    [],
  );
  await kubectl.run(['uncordon', node]);
  await until('both programs have two ready replicas again', () => replicasReady(client));
});
