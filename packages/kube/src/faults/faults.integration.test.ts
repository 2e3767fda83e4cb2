/**
 * Each fault alone: after it the cache equals the server's state, whether it
 * lists as a stream or in pages.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { churn, configMap, follow, OURS, settles, setUp, type World } from '../../testing/fault-world.ts';
import { type LineFate, until } from '../../testing/index.ts';
import { AlreadyExistsError, ConnectionError, configMaps, type ReflectorTuning, secrets } from '../index.ts';

const eachLine = (decide: (count: number) => LineFate): ((line: string) => LineFate) => {
  let count = 0;
  return () => decide((count += 1));
};

/** An event of an object that the server does not have. */
const unknownObject = (type: string, resourceVersion: string): string => {
  const metadata = { name: 'unknown', namespace: 'default', uid: 'unknown', resourceVersion };
  return JSON.stringify({ type, object: { apiVersion: 'v1', kind: 'ConfigMap', metadata } });
};

/** Special tunings of single faults. */
const tunings: Record<string, ReflectorTuning> = {
  'connections go silent without closing': { idle: 300 },
  // Only the periodic list recovers an event that was silently lost.
  'events are dropped without a trace': { relistEvery: 0 },
  'the server drops events and then ends the watch': { relistEvery: 0 },
};

const schedules: Record<string, (world: World) => Promise<void>> = {
  'sockets are reset again and again': async (world) => {
    for (let i = 0; i < 8; i += 1) {
      await churn(world, 4, i * 4);
      world.gateway.resetAll();
    }
  },
  'connections go silent without closing': async (world) => {
    await churn(world, 5);
    world.gateway.freeze();
    await churn(world, 9, 5);
    world.gateway.thaw();
  },
  'lines are truncated': async (world) => {
    world.gateway.line = eachLine((count) => (count % 5 === 4 ? 'truncate' : 'pass'));
    await churn(world, 40);
    world.gateway.line = undefined;
  },
  'a line is no JSON, or no event': async (world) => {
    world.gateway.line = eachLine((count) =>
      count % 4 === 2
        ? { replace: '{"type":' }
        : count % 4 === 3
          ? { replace: '{"type":"NOVEL","object":{}}' }
          : 'pass',
    );
    await churn(world, 30);
    world.gateway.line = undefined;
  },
  'the watch is told 410 in the middle': async (world) => {
    const gone =
      '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}';
    world.gateway.line = eachLine((count) => (count % 6 === 5 ? { replace: gone } : 'pass'));
    await churn(world, 30);
    world.gateway.line = undefined;
  },
  'events are dropped without a trace': async (world) => {
    // The bookmark that ends a streaming list must pass, or the list never completes.
    let count = 0;
    world.gateway.line = (line) => (!line.includes('BOOKMARK') && (count += 1) % 3 === 0 ? 'drop' : 'pass');
    await churn(world, 30);
    world.gateway.line = undefined;
    world.gateway.resetAll();
  },
  'events are lost, and one that does not fit is the only hint': async (world) => {
    const lost = new Set(['hint', 'other']);
    world.gateway.line = (line) => {
      const name = [...lost].find((one) => line.includes('"ADDED"') && line.includes(`"name":"${one}"`));
      // Once each: the next list must contain them.
      return name !== undefined && lost.delete(name) ? 'drop' : 'pass';
    };
    await world.user.create(configMaps, configMap('other'));
    const { metadata } = await world.user.create(configMaps, configMap('hint'));
    await world.user.mergePatch(configMaps, metadata, { data: { changed: 'yes' } });
    await until('both events were lost', () => lost.size === 0);
  },
  'resourceVersions go back within a watch': async (world) => {
    let told = false;
    world.gateway.line = (line) => {
      if (told || line.includes('BOOKMARK')) return 'pass';
      told = true;
      return { replace: unknownObject('ADDED', '1') };
    };
    await world.user.create(configMaps, configMap('real'));
    await until('the event came', () => told);
  },
  '429 and 503 storms': async (world) => {
    let count = 0;
    world.gateway.refuse = () =>
      (count += 1) % 3 === 0 ? undefined : { status: count % 2 === 0 ? 429 : 503 };
    world.gateway.resetAll();
    await churn(world, 20);
    world.gateway.refuse = () => ({ status: 503, retryAfter: 0 });
    world.gateway.resetAll();
    await churn(world, 5, 20);
    world.gateway.refuse = undefined;
  },
  'the API server restarts': async (world) => {
    for (let i = 0; i < 3; i += 1) {
      await churn(world, 6, i * 6);
      await world.server.restart();
    }
    await churn(world, 3, 30);
  },
  'history is compacted while we are away': async (world) => {
    world.gateway.refuse = ({ isWatch }) => (isWatch ? { status: 503 } : undefined);
    world.gateway.resetAll();
    await churn(world, 20);
    world.server.store.compact();
    world.gateway.refuse = undefined;
  },
  'the server is restored from an older snapshot': async (world) => {
    await churn(world, 10);
    const snapshot = world.server.store.snapshot();
    await churn(world, 10, 10);
    world.gateway.resetAll();
    world.server.store.restore(snapshot);
    await churn(world, 2, 50);
  },
  'the server is paused, with and without a reset': async (world) => {
    for (const at of [0, 1]) {
      const heal = world.server.faults.pause(OURS);
      if (at === 0) world.gateway.resetAll();
      else world.server.faults.cutWatches(OURS, 'end');
      await churn(world, 12, at * 15);
      heal();
      await churn(world, 3, at * 15 + 12);
    }
  },
  'events are held back and then come all at once': async (world) => {
    const heal = world.server.faults.holdEvents(OURS);
    await churn(world, 25);
    heal();
  },
  'events are coalesced, one per object': async (world) => {
    const heal = world.server.faults.coalesceEvents(OURS);
    await churn(world, 40);
    heal();
    await churn(world, 3, 40);
  },
  'the server drops events and then ends the watch': async (world) => {
    const heal = world.server.faults.dropEvents(OURS);
    await churn(world, 25);
    heal();
    world.server.faults.cutWatches(OURS, 'end');
  },
  'everything at once': async (world) => {
    let count = 0;
    world.gateway.line = () =>
      (['pass', 'pass', 'pass', 'cut', 'pass', 'truncate'] as const)[(count += 1) % 6] ?? 'pass';
    world.gateway.refuse = () => (count % 5 === 0 ? { status: 503 } : undefined);
    for (let i = 0; i < 5; i += 1) {
      await churn(world, 6, i * 6);
      if (i === 2) await world.server.restart();
      world.gateway.resetAll();
    }
    world.gateway.line = undefined;
    world.gateway.refuse = undefined;
  },
};

for (const streaming of [true, false])
  for (const [name, schedule] of Object.entries(schedules))
    test(`cache equals server after: ${name} (${streaming ? 'streaming list' : 'pages'})`, async (t) => {
      const world = await setUp(t);
      await churn(world, 5);
      const followed = follow(t, world, { streaming, pageSize: 3, ...tunings[name] });
      await followed.informer.waitForSync({ timeout: 60_000 });
      await schedule(world);
      await settles(world, followed);
      await churn(world, 10, 100);
      await settles(world, followed);
    });

test('falls back to pages if the server refuses a streaming list', async (t) => {
  const world = await setUp(t);
  await churn(world, 8);
  world.gateway.refuse = ({ path }) => (path.includes('sendInitialEvents') ? { status: 422 } : undefined);
  const followed = follow(t, world, { pageSize: 3 });
  await followed.informer.waitForSync({ timeout: 60_000 });
  await churn(world, 5, 8);
  await settles(world, followed);
  assert.equal(world.gateway.seen.filter(({ path }) => path.includes('sendInitialEvents')).length, 1);
});

test('all caches together request one streaming list from a server without them, and list pages at once', async (t) => {
  const world = await setUp(t);
  await churn(world, 8);
  world.server.faults.oldEtcd(OURS);
  const asked = () =>
    world.gateway.seen.filter(({ path }) => path.includes('sendInitialEvents')).map(({ path }) => path);
  // With a back-off of a minute, only a cache without a failure syncs in time.
  const patient = { pageSize: 3, backoff: { initial: 60_000, limit: 60_000 } };
  const followed = follow(t, world, patient);
  await followed.informer.waitForSync({ timeout: 30_000 });
  assert.equal(asked().length, 1);
  await followed.cache.informer(secrets).waitForSync({ timeout: 30_000 });
  assert.equal(asked().length, 1, `the second cache asked again: ${asked().join(', ')}`);
  await churn(world, 5, 8);
  await settles(world, followed);
});

test('an object that is deleted during a streaming list is not in it', async (t) => {
  const world = await setUp(t);
  await churn(world, 8);
  world.gateway.line = (line) =>
    line.includes('initial-events-end')
      ? { replace: [unknownObject('ADDED', '1'), unknownObject('DELETED', '2'), line].join('\n') }
      : 'pass';
  const followed = follow(t, world);
  await followed.informer.waitForSync({ timeout: 60_000 });
  await settles(world, followed);
});

test('falls back to pages if the end of a streaming list never arrives', async (t) => {
  const world = await setUp(t);
  await churn(world, 8);
  world.gateway.line = (line) => (line.includes('initial-events-end') ? 'drop' : 'pass');
  const followed = follow(t, world, { pageSize: 3, listTimeout: 100 });
  await followed.informer.waitForSync({ timeout: 60_000 });
  await churn(world, 5, 8);
  await settles(world, followed);
});

test('falls back to pages if streaming lists always break', async (t) => {
  const world = await setUp(t);
  await churn(world, 8);
  world.gateway.line = (line) => (line.includes('initial-events-end') ? 'cut' : 'pass');
  const followed = follow(t, world, { pageSize: 3 });
  await followed.informer.waitForSync({ timeout: 60_000 });
  await churn(world, 5, 8);
  await settles(world, followed);
});

test('waitForSync of a cache that cannot sync times out with the reason', async (t) => {
  const world = await setUp(t);
  world.gateway.refuse = () => ({ status: 403 });
  const { informer } = follow(t, world);
  await assert.rejects(
    informer.waitForSync({ timeout: 1500 }),
    /configmaps did not sync: timed out after 1500 ms .*injected \(403\)/,
  );
});

test('a write whose response was lost is not repeated, and its result arrives by watch', async (t) => {
  const world = await setUp(t);
  const { client, informer } = follow(t, world);
  await informer.waitForSync({ timeout: 60_000 });
  world.server.faults.loseAnswers({ ...OURS, verb: 'create', times: 1 });
  await assert.rejects(
    client.create(configMaps, configMap('lost')),
    (error) => error instanceof ConnectionError && error.sent,
  );
  await until('the watch delivers it', () => informer.get('default/lost') !== undefined);
  await assert.rejects(client.create(configMaps, configMap('lost')), AlreadyExistsError);
});
