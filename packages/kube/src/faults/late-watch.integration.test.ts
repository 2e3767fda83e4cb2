/** Read your own writes: an operator whose watch is late creates and deletes nothing twice. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { configMap, FAST, setUp, type World } from '../../testing/fault-world.ts';
import { until } from '../../testing/index.ts';
import { configMaps, controllerReference, createManager } from '../index.ts';

/** A minimal operator: one child per parent, created if missing, deleted if not desired. */
async function operate(t: TestContext, { gateway }: World, streaming: boolean) {
  const manager = await createManager({
    name: 'children',
    config: gateway.config(),
    client: { rateLimit: false },
    cache: { ...FAST, streaming, pageSize: 3 },
  });
  manager
    .controller('children')
    .for(configMaps)
    .owns(configMaps)
    .options({ backoff: { initial: 5, limit: 200 } })
    .reconcile(async ({ namespace, name }, { signal }) => {
      const parent = manager.cache.get(configMaps, { namespace, name });
      if (parent?.data?.['child'] === undefined) return;
      const child = manager.cache.get(configMaps, { namespace, name: `${name}-child` });
      if (parent.data['child'] === 'yes' && child === undefined)
        await manager.client.create(
          configMaps,
          {
            ...configMap(`${name}-child`),
            metadata: {
              name: `${name}-child`,
              namespace: 'default',
              ownerReferences: [controllerReference(parent)],
            },
          },
          { signal },
        );
      if (parent.data['child'] === 'no' && child !== undefined)
        await manager.client.delete(configMaps, child.metadata, { uid: child.metadata.uid, signal });
    });
  const stop = new AbortController();
  const running = manager.start(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
  });
  return manager;
}

for (const streaming of [true, false])
  test(`no child is created or deleted twice while the watch is late (${streaming ? 'streaming list' : 'pages'})`, async (t) => {
    const world = await setUp(t);
    world.gateway.delay = 150;
    await operate(t, world, streaming);
    const parents = Array.from({ length: 8 }, (_, i) => `p${i}`);
    const children = async () =>
      (await world.user.list(configMaps)).items.filter(({ metadata }) => metadata.name.endsWith('-child'))
        .length;
    for (const round of [1, 2, 3]) {
      for (const name of parents) {
        const ref = { namespace: 'default', name };
        if (round === 1) await world.user.create(configMaps, configMap(name, { child: 'yes' }));
        else await world.user.mergePatch(configMaps, ref, { data: { child: 'yes', touched: String(round) } });
      }
      await until('all children are there', async () => (await children()) === parents.length);
      for (const name of parents)
        await world.user.mergePatch(configMaps, { namespace: 'default', name }, { data: { child: 'no' } });
      await until('all children are gone', async () => (await children()) === 0);
    }
    const sent = (method: string) => world.gateway.seen.filter((request) => request.method === method).length;
    assert.equal(sent('POST'), parents.length * 3, 'each child was made once per round');
    assert.equal(sent('DELETE'), parents.length * 3, 'each child was deleted once per round');
  });
