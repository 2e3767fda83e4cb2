/** `KUBECONFIG=… make test TIER=cluster` on a localcluster that was started before: it works there, and leaves nothing behind. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { connect } from '@slurm-operator/demo';
import { type Client, configMaps, namespaces } from '@slurm-operator/kube';
import { type ClusterRecord, down, up } from '@slurm-operator/localcluster';
import { type CommandResult, runCommand } from '@slurm-operator/sandbox';
import { added, clusterContents } from './src/given/cluster-contents.ts';
import { needsThisMachine } from './src/given/given-cluster.ts';
import { until } from './src/until.ts';

const program = fileURLToPath(new URL('../tools/targets/test.ts', import.meta.url));
const name = `given-${process.pid}`;

describe('the cluster tests on a given cluster', {
  ...needsThisMachine('it starts the cluster that it gives'),
  concurrency: false,
  timeout: 1_200_000,
}, () => {
  let record: ClusterRecord | undefined;
  let client: Client;

  const run = (only: string): Promise<CommandResult> => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    return runCommand([process.execPath, program], {
      env: { ...env, KUBECONFIG: record?.kubeconfig ?? '', TIER: 'cluster', ONLY: only },
      allowFailure: true,
      timeoutMs: 900_000,
    });
  };

  before(async () => {
    record = await up({ name, nodes: 1, progress: () => {} });
    client = await connect(record.kubeconfig);
  });
  after(async () => {
    client?.close();
    if (record !== undefined) await down(name, () => {});
  });

  it('runs what needs the API alone, names what does not run there, and leaves the cluster as it was', async () => {
    const untouched = await clusterContents(client);
    const running = run('plain-yaml');
    // Others use the cluster at the same time: with a namespace that the tests would have taken, too.
    await until('the run has begun', () => client.find(namespaces, { name: 'slinky' }));
    const [others, theirs] = ['hybrid', '/api/v1/namespaces/hybrid/configmaps/theirs'];
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: others } });
    await client.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'theirs', namespace: others },
    });
    const { exitCode, stdout, stderr } = await running;
    assert.equal(exitCode, 0, `${stdout}\n${stderr}`);
    assert.match(stdout, /nothing was left behind\. Others created [2-9]/);
    assert.match(stdout, /[1-9]\d* passed, 0 failed/);
    const now = await clusterContents(client);
    assert.ok(now.has(theirs), 'what others created stays');
    assert.deepEqual(
      added(untouched, now).filter((found) => ![found.name, found.namespace].includes(others)),
      [],
    );
    await client.delete(namespaces, { name: others });
    await until('it is gone', async () => (await client.find(namespaces, { name: others })) === undefined);
    const { stdout: told } = await run('-ha.');
    assert.match(told, /two slurmctld.*not run here: needs 3 nodes, the cluster has 1/);
    assert.match(told, /\b0 passed, 0 failed, [1-9]/, 'what does not run is not counted as passed');
  });

  it('changes nothing where an operator for Slurm is installed, or a namespace is taken', async () => {
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'slinky' } });
    const taken = await clusterContents(client);
    const { exitCode, stderr } = await run('plain-yaml');
    assert.equal(exitCode, 1);
    assert.match(stderr, /the namespace slinky already.*Nothing was changed/);
    assert.deepEqual(added(taken, await clusterContents(client)), []);
    await client.delete(namespaces, { name: 'slinky' });
    await until('it is gone', async () => (await client.find(namespaces, { name: 'slinky' })) === undefined);
  });
});
