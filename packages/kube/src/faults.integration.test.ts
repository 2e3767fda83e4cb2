/**
 * The law of the runtime under faults: after any schedule of them the cache equals the server's state, and no child is
 * made or deleted twice. The server is the embedded one; the faults are injected on the way to it.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type ApiServer, startApiServer } from '@slurm-operator/apiserver';
import fc from 'fast-check';
import { FaultGateway, type LineFate } from '../testing/index.ts';
import {
  AlreadyExistsError,
  Cache,
  type Client,
  type ConfigMap,
  ConnectionError,
  configMaps,
  controllerReference,
  createClient,
  createManager,
  keyOf,
  kubeconfigConfig,
  type ReflectorTuning,
} from './index.ts';

const FAST: ReflectorTuning = { backoff: { initial: 5, limit: 100 }, idle: 60_000, repairEvery: 0 };

/** Our client among all of the server's; the user that stirs things up is not to suffer. */
const OURS = { userAgent: 'faulty' };

interface World {
  server: ApiServer;
  gateway: FaultGateway;
  /** Sees the server without faults. */
  user: Client;
}

async function setUp(t: TestContext): Promise<World> {
  const server = await startApiServer();
  const { certificatePem: cert, keyPem: key } = server.admin;
  const gateway = await FaultGateway.start({ url: server.url, ca: server.caPem, cert, key });
  const user = createClient(await kubeconfigConfig({ text: server.kubeconfig() }), { rateLimit: false });
  t.after(async () => {
    user.close();
    await gateway.stop();
    await server.stop();
  });
  return { server, gateway, user };
}

/** A cache of the ConfigMaps behind the gateway. */
function follow(t: TestContext, { gateway }: World, tuning: ReflectorTuning = {}) {
  const client = createClient(gateway.config(), {
    userAgent: OURS.userAgent,
    rateLimit: false,
    retry: { initial: 2, limit: 20 },
    silence: 300,
  });
  const cache = new Cache(client, { tuning: { ...FAST, ...tuning } });
  const informer = cache.informer(configMaps);
  const stop = new AbortController();
  const running = cache.start(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
    client.close();
  });
  // What a subscriber believes, from changes alone.
  const believed = new Map<string, string>();
  informer.subscribe((change) => {
    if (change.type === 'deleted') believed.delete(change.key);
    else believed.set(change.key, change.object.metadata.resourceVersion);
  });
  return { client, cache, informer, believed };
}

const configMap = (name: string, data: Record<string, string> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
});

async function until(what: string, holds: () => boolean | Promise<boolean>, timeout = 20_000): Promise<void> {
  const deadline = performance.now() + timeout;
  while (!(await holds())) {
    if (performance.now() > deadline) assert.fail(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const versions = (
  objects: Iterable<{ metadata: { name: string; namespace?: string; resourceVersion: string } }>,
) => new Map([...objects].map((object) => [keyOf(object), object.metadata.resourceVersion]));

/** The law: what the cache shows, and what a subscriber was told, is what the server has. */
async function settles(world: World, followed: ReturnType<typeof follow>): Promise<void> {
  const truth = versions((await world.user.list(configMaps)).items);
  const same = (held: Map<string, string>) =>
    held.size === truth.size && [...truth].every(([key, version]) => held.get(key) === version);
  try {
    await until('the cache equals the server', () => same(versions(followed.informer.list())));
  } catch {
    assert.deepEqual(versions(followed.informer.list()), truth);
  }
  assert.deepEqual(followed.believed, truth);
}

/** Creates, changes and deletes, by somebody else. */
async function churn({ user }: World, rounds: number, from = 0): Promise<void> {
  for (let i = from; i < from + rounds; i += 1) {
    const ref = { namespace: 'default', name: `o${i % 7}` };
    const found = await user.find(configMaps, ref);
    if (found === undefined) await user.create(configMaps, configMap(ref.name, { i: String(i) }));
    else if (i % 3 === 0) await user.delete(configMaps, ref);
    else await user.mergePatch(configMaps, ref, { data: { i: String(i) } });
  }
}

const eachLine = (decide: (count: number) => LineFate): ((line: string) => LineFate) => {
  let count = 0;
  return () => decide((count += 1));
};

/** What a schedule needs beyond speed; all else is left to the general rules. */
const tunings: Record<string, ReflectorTuning> = {
  'connections go silent without closing': { idle: 300 },
  // Nothing tells of an event that was lost without a trace but the list that comes now and then.
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
    // The end of a streaming list must come through, or there is nothing to speak of.
    let count = 0;
    world.gateway.line = (line) => (!line.includes('BOOKMARK') && (count += 1) % 3 === 0 ? 'drop' : 'pass');
    await churn(world, 30);
    world.gateway.line = undefined;
    world.gateway.resetAll();
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
    const heal = world.server.faults.pause(OURS);
    world.gateway.resetAll();
    await churn(world, 12);
    heal();
    await churn(world, 3, 12);
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
      await followed.informer.waitForSync({ timeout: 10_000 });
      await schedule(world);
      await settles(world, followed);
      await churn(world, 10, 100);
      await settles(world, followed);
    });

/** Single misfortunes, to be strung together by chance. */
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

/** A call that may fail in any way, as calls do in a storm. */
async function bestEffort(call: Promise<unknown>): Promise<void> {
  await call.catch(() => undefined);
}

test('cache equals server after: any misfortunes in any order', { timeout: 300_000 }, async (t) => {
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
        await followed.informer.waitForSync({ timeout: 10_000 });
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

test('a streaming list that the server refuses becomes pages', async (t) => {
  const world = await setUp(t);
  await churn(world, 8);
  world.gateway.refuse = ({ path }) => (path.includes('sendInitialEvents') ? { status: 422 } : undefined);
  const followed = follow(t, world, { pageSize: 3 });
  await followed.informer.waitForSync({ timeout: 10_000 });
  await churn(world, 5, 8);
  await settles(world, followed);
  assert.equal(world.gateway.seen.filter(({ path }) => path.includes('sendInitialEvents')).length, 1);
});

test('a streaming list whose end never comes becomes pages', async (t) => {
  const world = await setUp(t);
  await churn(world, 8);
  world.gateway.line = (line) => (line.includes('initial-events-end') ? 'drop' : 'pass');
  const followed = follow(t, world, { pageSize: 3, listPatience: 100 });
  await followed.informer.waitForSync({ timeout: 10_000 });
  await churn(world, 5, 8);
  await settles(world, followed);
});

test('waiting for a cache that cannot fill ends in time, with the reason', async (t) => {
  const world = await setUp(t);
  world.gateway.refuse = () => ({ status: 403 });
  const { informer } = follow(t, world);
  await assert.rejects(
    informer.waitForSync({ timeout: 1500 }),
    /configmaps did not fill: waited 1500 ms .*injected \(403\)/,
  );
});

test('a write whose answer was lost is found out, not repeated blindly', async (t) => {
  const world = await setUp(t);
  const { client, informer } = follow(t, world);
  await informer.waitForSync({ timeout: 10_000 });
  world.server.faults.loseAnswers({ ...OURS, verb: 'create', times: 1 });
  await assert.rejects(
    client.create(configMaps, configMap('lost')),
    (error) => error instanceof ConnectionError && error.sent,
  );
  await until('the watch tells of it', () => informer.get('default/lost') !== undefined);
  await assert.rejects(client.create(configMaps, configMap('lost')), AlreadyExistsError);
});

/** The simplest operator: one child per parent, made if missing, removed if not wanted. */
async function operate(t: TestContext, { gateway }: World) {
  const manager = await createManager({
    name: 'children',
    config: gateway.config(),
    client: { rateLimit: false },
    cache: FAST,
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

test('no child is made or deleted twice while the watch is late', async (t) => {
  const world = await setUp(t);
  world.gateway.delay = 150;
  await operate(t, world);
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
