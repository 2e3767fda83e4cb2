/** The operator limited to one namespace, with real daemons: a job runs there, and the namespace ends when it is deleted as it is. */
import assert from 'node:assert/strict';
import { after, before as beforeAll, describe, it } from 'node:test';
import { installSlurm, operatorNamespace, smallMachine } from '@slurm-operator/demo/install';
import { namespaces } from '@slurm-operator/kube';
import { nodeSets } from '@slurm-operator/operator';
import { installOperator, needsThisMachine } from './src/given/given-cluster.ts';
import { createNamespace } from './src/given/ground.ts';
import { HelmStage } from './src/helm/helm-stage.ts';
import { until, untilAllReady } from './src/until.ts';

const namespace = 'slurm';

describe('the operator limited to one namespace', {
  ...needsThisMachine('a whole namespace is deleted'),
  concurrency: false,
  timeout: 1_200_000,
}, () => {
  let stage: HelmStage;
  const restarts = async () =>
    (await stage.pods(operatorNamespace, 'slurm-operator')).map(({ metadata, status }) => [
      metadata.uid,
      status?.containerStatuses?.[0]?.restartCount,
    ]);

  beforeAll(async () => {
    stage = await HelmStage.open({ name: `scoped-${process.pid}`, nodes: 1 });
    await createNamespace(stage.client, namespace);
    const limited = { replicas: 1, namespaces: namespace };
    await installOperator(stage.helm, { operator: limited, webhook: limited });
  });
  after(() => stage?.[Symbol.asyncDispose]());

  it('runs a cluster and a job there', async () => {
    const values = {
      ...stage.images,
      ...smallMachine,
      nodesets: { compute: { replicas: 1, partition: { enabled: true, configMap: { Default: true } } } },
    };
    await installSlurm(stage.helm, { release: 'slurm', namespace, values });
    await untilAllReady(stage.client, namespace, { timeoutMs: 400_000 });
    const job = ['exec', 'slurm-controller-0', '-c', 'slurmctld', '--', 'srun', '--chdir=/tmp', 'hostname'];
    assert.equal((await stage.kubectl.say('-n', namespace, ...job)).trim(), 'compute-0');
    stage.staged.assertNothingRefused();
  });

  it('removes the finalizers of NodeSets when the namespace is deleted, perhaps after the Role in it', async () => {
    const before = await restarts();
    const { metadata } = await stage.client.get(nodeSets, { namespace, name: 'slurm-worker-compute' });
    assert.ok((metadata.finalizers ?? []).length > 0, 'something has to be removed');
    await stage.client.delete(namespaces, { name: namespace });
    await until(
      'the namespace to be gone',
      async () => (await stage.client.find(namespaces, { name: namespace })) === undefined,
      {
        seen: async () =>
          JSON.stringify((await stage.client.find(namespaces, { name: namespace }))?.status?.conditions),
      },
    );
    assert.deepEqual(await restarts(), before, 'the operator goes on');
  });
});
