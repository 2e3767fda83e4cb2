/** Two NodeSets in DaemonSet mode on the same machines: the older one has them, whatever the order of changes, and no job is lost for it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshInstall, settle } from '../../testing/laws/check-cluster-laws.ts';
import { ClusterWorld } from '../../testing/laws/cluster-world.ts';
import { endOf } from '../../testing/laws/end-of-history.ts';

const daemons = { scalingMode: 'DaemonSet', partition: { enabled: true } };

async function start(): Promise<ClusterWorld> {
  const world = new ClusterWorld(2);
  world.createNodeSet('old', { replicas: 1, partition: { enabled: true } });
  world.now += 1_000;
  world.createNodeSet('young', daemons);
  await settle(world);
  return world;
}

function select(world: ClusterWorld): void {
  const old = world.nodeSets().find(({ metadata }) => metadata.name === 'old');
  assert.ok(old !== undefined);
  world.patch('nodesets', old, (live) => ({ ...live, spec: { ...(live['spec'] as object), ...daemons } }));
}

test('an older NodeSet that changes its scaling mode gets its machines when their jobs have ended', async () => {
  const world = await start();
  const job = world.slurm.submit(['young'], world.now);
  world.slurmWorks();
  assert.equal(job?.state, 'RUNNING');
  select(world);
  // Breaks a law if a worker goes while the job is on it, or if a record goes that is another NodeSet's.
  await settle(world);
  assert.equal(job?.state, 'COMPLETED');
  const end = endOf(world);
  assert.deepEqual(end.pods, ['old machine-0 newest', 'old machine-1 newest']);
  assert.deepEqual(end.nodes, ['old', 'old']);
  assert.deepEqual(end, endOf(await freshInstall(world)));
});

test('the younger one gets them back when the older one is deleted', async () => {
  const world = await start();
  select(world);
  await settle(world);
  const old = world.nodeSets().find(({ metadata }) => metadata.name === 'old');
  assert.ok(old !== undefined);
  world.deleteNodeSet(old);
  await settle(world);
  assert.deepEqual(endOf(world).pods, ['young machine-0 newest', 'young machine-1 newest']);
});
