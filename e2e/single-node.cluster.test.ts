/**
 * On a cluster with one node both replicas of each program run there. A cordon of that node leaves both ready, and a drain of it ends
 * in spite of their budgets.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operatorNamespace } from '@slurm-operator/demo/install';
import { podDisruptionBudgets } from '@slurm-operator/kube';
import { installOperator, needsThisMachine } from './src/given/given-cluster.ts';
import { HelmStage } from './src/helm/helm-stage.ts';
import { operatorPods, replicasReady } from './src/helm/spread-operator.ts';
import { until } from './src/until.ts';

test('a cordon of the only node leaves all replicas ready; a drain ends, and the operator is back after it', {
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
  await kubectl.run(['cordon', node]);
  const { audit } = cluster.server;
  const cordoned = audit.total;
  const polls = (account: string) =>
    audit.find(
      ({ id, user, verb, resource, path }) =>
        id > cordoned &&
        user === `system:serviceaccount:${operatorNamespace}:${account}` &&
        verb === 'list' &&
        resource === 'nodes' &&
        path.includes('fieldSelector'),
    ).length;
  // Two polls are further apart than two readiness probes.
  await until(
    'each replica has polled its cordoned node twice',
    () => Promise.resolve(['slurm-operator', 'slurm-operator-webhook'].every((name) => polls(name) >= 4)),
    { seen: () => JSON.stringify(audit.find({ resource: 'nodes', verb: 'list' }).slice(-4)) },
  );
  assert.equal(await replicasReady(client), true, 'a cordon alone makes no replica unready');
  // Its own time limit would end it as a failure.
  await kubectl.run(['drain', node, '--ignore-daemonsets', '--timeout=240s']);
  assert.deepEqual(
    (await operatorPods(client)).filter(({ spec }) => spec?.nodeName === node),
    [],
  );
  await kubectl.run(['uncordon', node]);
  await until('both programs have two ready replicas again', () => replicasReady(client));
});
