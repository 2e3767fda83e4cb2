/** Random sequences of faults: after any of them the cache equals the server's state. */
import { test } from 'node:test';
import fc from 'fast-check';
import { churn, configMap, follow, OURS, settles, setUp, type World } from '../../testing/fault-world.ts';
import { type Client, configMaps } from '../index.ts';

/** Single faults, for random sequences. */
const misfortunes: Record<string, (world: World, client: Client, at: number) => Promise<void> | void> = {
  'others change things': (world, _client, at) => churn(world, 4, at * 4),
  'we create': (_world, client, at) =>
    bestEffort(client.create(configMaps, configMap(`own${at % 3}`, { at: String(at) }))),
  'we change': (_world, client, at) =>
    bestEffort(
      client.mergePatch(
        configMaps,
        { namespace: 'default', name: `own${at % 3}` },
        { data: { at: String(at) } },
      ),
    ),
  'we delete': (_world, client, at) =>
    bestEffort(client.delete(configMaps, { namespace: 'default', name: `own${at % 3}` })),
  reset: ({ gateway }) => gateway.resetAll(),
  silence: async (world, _client, at) => {
    world.gateway.freeze();
    await churn(world, 2, at);
    world.gateway.thaw();
    world.gateway.resetAll();
  },
  restart: ({ server }) => server.restart(),
  compaction: ({ server }) => server.store.compact(),
  'an older snapshot': async (world, _client, at) => {
    const snapshot = world.server.store.snapshot();
    await churn(world, 3, at);
    world.server.faults.restore(snapshot);
    world.gateway.resetAll();
  },
  'answers get lost': ({ server }) => void server.faults.loseAnswers({ ...OURS, times: 2 }),
  refusals: ({ server }) =>
    void server.faults.refuse({ status: 503, retryAfterSeconds: 0 }, { ...OURS, times: 3 }),
  'a truncated line': ({ server }) => void server.faults.truncateEvents({ ...OURS, times: 1 }),
  'events held back': async (world, _client, at) => {
    const heal = world.server.faults.holdEvents(OURS);
    await churn(world, 4, at);
    heal();
  },
  'events coalesced': async (world, _client, at) => {
    const heal = world.server.faults.coalesceEvents(OURS);
    await churn(world, 4, at);
    heal();
  },
  'events lost': async (world, _client, at) => {
    const heal = world.server.faults.dropEvents(OURS);
    await churn(world, 4, at);
    heal();
    world.server.faults.cutWatches(OURS);
  },
};

/** A call that may fail because of an injected fault. */
async function bestEffort(call: Promise<unknown>): Promise<void> {
  await call.catch(() => undefined);
}

test('cache equals server after: any faults in any order', { timeout: 900_000 }, async (t) => {
  const schedule = fc.array(fc.constantFrom(...Object.keys(misfortunes)), {
    minLength: 6,
    maxLength: 14,
    size: 'max',
  });
  await fc.assert(
    fc.asyncProperty(schedule, fc.boolean(), async (steps, streaming) => {
      await t.test(steps.join(', then '), async (one) => {
        const world = await setUp(one);
        const followed = follow(one, world, { streaming, pageSize: 3, relistEvery: 0, idle: 2_000 });
        await followed.informer.waitForSync({ timeout: 60_000 });
        for (const [at, step] of steps.entries()) await misfortunes[step]?.(world, followed.client, at);
        world.server.faults.heal();
        await settles(world, followed);
        await churn(world, 6, 1_000);
        await settles(world, followed);
      });
    }),
    { numRuns: 12 },
  );
});
