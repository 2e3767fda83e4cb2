/** A namespace of `--namespaces` that is deleted with the operator's Role in it ends, and only then are finalizers removed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finalizer } from '@slurm-operator/api';
import { Cache, createClient, defineResource, namespaces, silent } from '@slurm-operator/kube';
import { FakeClock, until } from '@slurm-operator/kube/testing';
import { aNodeSet } from '../../../testing/objects.ts';
import { startOperatorWorld } from '../../../testing/operator-world.ts';
import { restrictedConfig } from '../../../testing/restricted-config.ts';
import { nodeSets } from '../../cache/resources.ts';
import { endingNamespaceRules, managerNamespaceRules } from '../../rbac/rules.ts';
import { EndingNamespaces } from './ending-namespaces.ts';

const account = 'scoped';
const foreign = 'example.org/backup';
const rbac = (kind: string, plural: string) =>
  defineResource({ apiVersion: 'rbac.authorization.k8s.io/v1', kind, plural, namespaced: true });

async function stage(t: { after(undo: () => Promise<unknown>): void }) {
  const world = await startOperatorWorld();
  const watched = ['team-a', 'team-b'];
  for (const name of watched) {
    await world.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const finalizers = [finalizer.reservation, foreign, finalizer.drain];
    await world.client.create(nodeSets, {
      ...aNodeSet(),
      metadata: { name: 'w', namespace: name, finalizers },
    });
  }
  const config = await restrictedConfig(world.server, world.client, account, {
    cluster: endingNamespaceRules(watched),
    namespaces: Object.fromEntries(watched.map((name) => [name, managerNamespaceRules])),
  });
  const clock = new FakeClock();
  const client = createClient(config, { userAgent: account, rateLimit: false });
  const cache = new Cache(client, { namespaces: watched });
  cache.informer(nodeSets);
  const stop = new AbortController();
  const caching = cache.start(stop.signal);
  await cache.waitForSync({ signal: stop.signal, timeout: 60_000 });
  const ended = new EndingNamespaces({ client, cache, clock, log: silent }, watched).run(stop.signal);
  t.after(async () => {
    stop.abort();
    await Promise.all([ended, caching.catch(() => undefined)]);
    client.close();
    await world.stop();
  });
  const finalizers = async (namespace: string) =>
    (await world.client.find(nodeSets, { namespace, name: 'w' }))?.metadata.finalizers;
  return {
    world,
    finalizers,
    async revoke(namespace: string) {
      await world.client.delete(rbac('RoleBinding', 'rolebindings'), { namespace, name: account });
      await world.client.delete(rbac('Role', 'roles'), { namespace, name: account });
    },
    async round() {
      const rests = () => until('it rests', () => clock.timers > 0);
      await rests();
      await clock.advance(20_000);
      await rests();
    },
  };
}

test('the finalizers of the operator are removed when the namespace is being deleted and the Role is gone, those of others stay', async (t) => {
  const { world, finalizers, revoke, round } = await stage(t);
  await world.client.delete(nodeSets, { namespace: 'team-b', name: 'w' });
  await world.client.delete(namespaces, { name: 'team-b' });
  await round();
  assert.equal(
    (await finalizers('team-b'))?.length,
    3,
    'while it may observe them, they wait for their workers',
  );
  await revoke('team-b');
  await round();
  assert.deepEqual(await finalizers('team-b'), [foreign]);
  assert.equal((await finalizers('team-a'))?.length, 3);
});

test('a Role that is removed from a namespace that stays releases nothing', async (t) => {
  const { world, finalizers, revoke, round } = await stage(t);
  await revoke('team-b');
  await world.client.delete(nodeSets, { namespace: 'team-b', name: 'w' });
  await round();
  assert.equal((await finalizers('team-b'))?.length, 3);
});
