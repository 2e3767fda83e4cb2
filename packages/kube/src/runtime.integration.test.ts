/** The public API of the runtime on the embedded API server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApiServer } from '@slurm-operator/apiserver';
import { until } from '../testing/index.ts';
import {
  AlreadyExistsError,
  Cache,
  type ConfigMap,
  ConflictError,
  configMaps,
  controllerReference,
  createClient,
  createManager,
  keyOf,
  kubeconfigConfig,
  NotFoundError,
  namespaces,
} from './index.ts';

async function connect(t: { after(fn: () => unknown): void }) {
  const server = await startApiServer();
  t.after(() => server.stop());
  const config = await kubeconfigConfig({ text: server.kubeconfig() });
  return { server, config };
}

const configMap = (name: string, data: Record<string, string> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
});

test('the client creates, reads, changes, lists and deletes, and has a class for each error', async (t) => {
  const { config } = await connect(t);
  const client = createClient(config, { rateLimit: false, fieldManager: 'test' });
  t.after(() => client.close());
  const ref = { namespace: 'default', name: 'a' };

  const created = await client.create(configMaps, configMap('a', { k: '1' }));
  assert.ok(created.metadata.uid);
  await assert.rejects(client.create(configMaps, configMap('a')), AlreadyExistsError);
  await assert.rejects(client.get(configMaps, { ...ref, name: 'b' }), NotFoundError);
  assert.equal(await client.find(configMaps, { ...ref, name: 'b' }), undefined);

  const patched = await client.mergePatch(configMaps, ref, { data: { k: '2' } });
  assert.equal(patched.data?.['k'], '2');
  await assert.rejects(client.replace(configMaps, created), ConflictError);
  const replaced = await client.replace(configMaps, { ...patched, data: { k: '3' } });
  assert.equal((await client.get(configMaps, ref)).data?.['k'], '3');

  for (let i = 0; i < 7; i += 1) await client.create(configMaps, configMap(`page-${i}`));
  const pages: number[] = [];
  for await (const page of client.pages(configMaps, { namespace: 'default', pageSize: 3 }))
    pages.push(page.items.length);
  const { items } = await client.list(configMaps, { namespace: 'default', pageSize: 3 });
  assert.ok(pages.length >= 3, `${pages.length} pages`);
  assert.equal(
    pages.reduce((sum, size) => sum + size, 0),
    items.length,
  );
  assert.ok(items.every((item) => item.kind === 'ConfigMap'));

  await assert.rejects(client.delete(configMaps, ref, { uid: 'another' }), ConflictError);
  assert.equal(await client.delete(configMaps, ref, { uid: replaced.metadata.uid }), true);
  assert.equal(await client.delete(configMaps, ref), false);
});

test('a controller creates and restores a child for each object, reading its own writes', async (t) => {
  const { server, config } = await connect(t);
  const manager = await createManager({ name: 'mirror', config, client: { rateLimit: false } });
  let reconciles = 0;
  manager
    .controller('mirror')
    .for(configMaps)
    .owns(configMaps)
    .reconcile(async ({ namespace, name }, { signal }) => {
      reconciles += 1;
      const source = manager.cache.get(configMaps, { namespace, name });
      if (source?.data?.['mirror'] === undefined) return;
      const child = { namespace, name: `${name}-copy` };
      if (manager.cache.get(configMaps, child) !== undefined) return;
      await manager.client.create(
        configMaps,
        {
          ...configMap(child.name, { copy: source.data['mirror'] }),
          metadata: { ...child, ownerReferences: [controllerReference(source)] },
        },
        { signal },
      );
      assert.ok(manager.cache.get(configMaps, child), 'the cache shows our write at once');
    });
  const stop = new AbortController();
  const running = manager.start(stop.signal);
  const user = createClient(config, { rateLimit: false });
  t.after(() => user.close());
  for (let i = 0; i < 20; i += 1) await user.create(configMaps, configMap(`m${i}`, { mirror: String(i) }));
  const copies = async () =>
    (await user.list(configMaps, { namespace: 'default' })).items.filter((item) =>
      item.metadata.name.endsWith('-copy'),
    );
  await until('every one has its copy', async () => (await copies()).length === 20);
  await user.delete(configMaps, { namespace: 'default', name: 'm3-copy' });
  await until('the lost copy is back', async () => (await copies()).length === 20);
  stop.abort();
  await running;
  assert.ok(reconciles >= 20);
  assert.equal(
    server.audit.count({ verb: 'create', resource: 'configmaps', status: 409 }),
    0,
    'no create was sent twice',
  );
});

test('a cache of some namespaces and labels contains only those, also of our own writes', async (t) => {
  const { config } = await connect(t);
  const client = createClient(config, { rateLimit: false });
  for (const name of ['a', 'b', 'c'])
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const make = (namespace: string, name: string, team: string) =>
    client.create(configMaps, { ...configMap(name), metadata: { namespace, name, labels: { team } } });
  await make('a', 'early', 'red');
  const cache = new Cache(client, { namespaces: ['a', 'b'] });
  const informer = cache.informer(configMaps, {
    labelSelector: 'team in (red, blue)',
    indexes: { team: ({ metadata }) => [metadata.labels?.['team'] ?? ''] },
  });
  const stop = new AbortController();
  const running = cache.start(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
    client.close();
  });
  await cache.waitForSync({ timeout: 60_000 });
  const shown = () =>
    informer
      .list()
      .map((object) => keyOf(object))
      .toSorted();
  await make('b', 'one', 'blue');
  await make('b', 'two', 'green');
  await make('c', 'three', 'red');
  assert.deepEqual(shown(), ['a/early', 'b/one'], 'at once, by our own writes');
  assert.deepEqual(cache.byIndex(configMaps, 'team', 'red').length, 1);
  await client.mergePatch(
    configMaps,
    { namespace: 'a', name: 'early' },
    { metadata: { labels: { team: 'green' } } },
  );
  await client.mergePatch(
    configMaps,
    { namespace: 'b', name: 'two' },
    { metadata: { labels: { team: 'red' } } },
  );
  assert.deepEqual(shown(), ['b/one', 'b/two']);
  const other = createClient(config, { rateLimit: false });
  t.after(() => other.close());
  await other.delete(configMaps, { namespace: 'b', name: 'one' });
  await other.mergePatch(
    configMaps,
    { namespace: 'a', name: 'early' },
    { metadata: { labels: { team: 'blue' } } },
  );
  await until('both changes are shown', () => shown().join() === 'a/early,b/two');
});
