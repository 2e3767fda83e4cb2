/** A whole program: health, metrics, optional APIs, leader election and shutdown. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startApiServer } from '@slurm-operator/apiserver';
import { until } from '../../testing/index.ts';
import {
  type ConfigMap,
  configMaps,
  createClient,
  createLog,
  createManager,
  customResourceDefinitions,
  defineResource,
  kubeconfigConfig,
  leases,
  type ManagerOptions,
} from '../index.ts';

const configMap = (name: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
});

async function setUp(t: TestContext) {
  const server = await startApiServer();
  const config = await kubeconfigConfig({ text: server.kubeconfig() });
  const user = createClient(config, { rateLimit: false });
  t.after(async () => {
    user.close();
    await server.stop();
  });
  const make = (options: Partial<ManagerOptions> = {}) =>
    createManager({ name: 'test-operator', config, client: { rateLimit: false }, ...options });
  return { server, config, user, make };
}

test('serves health and metrics', async (t) => {
  const { user, make } = await setUp(t);
  const manager = await make({
    health: { port: 0, host: '127.0.0.1' },
    metrics: { port: 0, host: '127.0.0.1' },
  });
  let broken: string | undefined;
  manager.health.addReadyCheck('mine', () => broken);
  manager
    .controller('cm')
    .for(configMaps)
    .reconcile(({ name }) => (name === 'bad' ? Promise.reject(new Error('no')) : Promise.resolve()));
  const stop = new AbortController();
  const running = manager.start(stop.signal);
  await until('it serves', () => manager.ports.metrics !== undefined);
  const read = async (port: number | undefined, path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, text: await response.text() };
  };
  await until('it is ready', async () => (await read(manager.ports.health, '/readyz')).status === 200);
  assert.equal((await read(manager.ports.health, '/livez')).status, 200);
  broken = 'the mill is jammed';
  assert.match((await read(manager.ports.health, '/readyz')).text, /\[-\]mine failed: the mill is jammed/);
  await user.create(configMaps, configMap('good'));
  await user.create(configMaps, configMap('bad'));
  await until('failures are counted', async () =>
    /controller_runtime_reconcile_errors_total\{controller="cm"\} [1-9]/.test(
      (await read(manager.ports.metrics, '/metrics')).text,
    ),
  );
  const { text } = await read(manager.ports.metrics, '/metrics');
  for (const metric of [
    'workqueue_depth{name="cm",controller="cm"}',
    'workqueue_adds_total{name="cm",controller="cm"}',
    'workqueue_queue_duration_seconds_bucket',
    'workqueue_work_duration_seconds_sum',
    'workqueue_unfinished_work_seconds',
    'workqueue_longest_running_processor_seconds',
    'workqueue_retries_total',
    'controller_runtime_reconcile_total{controller="cm",result="success"}',
    'controller_runtime_reconcile_time_seconds_count',
    'controller_runtime_max_concurrent_reconciles{controller="cm"} 4',
    'controller_runtime_active_workers',
    'rest_client_requests_total{method="GET",code="200"',
    'nodejs_eventloop_lag_p99_seconds',
  ])
    assert.ok(text.includes(metric), `${metric} is missing`);
  stop.abort();
  await running;
  await assert.rejects(fetch(`http://127.0.0.1:${manager.ports.health}/livez`), 'the port is free again');
});

test('an aborted signal (SIGTERM) finishes running work and releases the lease', async (t) => {
  const { user, make } = await setUp(t);
  // Ten minutes: a replica that becomes leader before that did not wait until the lease expired.
  const leaderElection = { namespace: 'default', name: 'one-at-a-time', leaseDuration: 600_000 };
  const manager = await make({ leaderElection });
  const names = ['slow-1', 'slow-2', 'slow-3'];
  for (const name of names) await user.create(configMaps, configMap(name));
  const mayFinish = Promise.withResolvers<void>();
  let begun = 0;
  let finished = 0;
  manager
    .controller('slow')
    .for(configMaps, { predicate: ({ object }) => object.metadata.name.startsWith('slow') })
    .options({ workers: 1 })
    .reconcile(async ({ namespace, name }) => {
      begun += 1;
      await mayFinish.promise;
      await manager.client.mergePatch(
        configMaps,
        { namespace, name },
        { metadata: { labels: { done: 'yes' } } },
      );
      finished += 1;
    });
  const stop = new AbortController();
  const running = manager.start(stop.signal);
  await until('the first is running and the others wait', () => begun === 1);
  stop.abort();
  mayFinish.resolve();
  await running;
  assert.equal(finished, begun, 'nothing was cut off');
  for (const name of names) {
    const { metadata } = await user.get(configMaps, { namespace: 'default', name });
    assert.equal(metadata.labels?.['done'], 'yes', 'what was queued was done as well');
  }
  const lease = await user.get(leases, leaderElection);
  assert.equal(lease.spec?.holderIdentity, '');
  const next = await make({ leaderElection });
  const stopNext = new AbortController();
  const runningNext = next.start(stopNext.signal);
  await until('the next leads', () => next.elector?.leading === true);
  stopNext.abort();
  await runningNext;
});

test('a component that fails stops the program with its error', async (t) => {
  const { make } = await setUp(t);
  const manager = await make();
  manager.add({ name: 'fragile', run: () => Promise.reject(new Error('it broke')) });
  await assert.rejects(manager.start(new AbortController().signal), /it broke/);
});

test('a component that ignores its signal does not prevent the shutdown', async (t) => {
  const { make } = await setUp(t);
  const manager = await make({ gracePeriod: 10 });
  let started = false;
  manager.add({
    name: 'deaf',
    run: () => {
      started = true;
      return new Promise(() => undefined);
    },
  });
  const stop = new AbortController();
  const running = manager.start(stop.signal);
  await until('it runs', () => started);
  stop.abort();
  await running;
});

test('an optional API may be added while the program runs', async (t) => {
  const { user, make } = await setUp(t);
  const monitors = defineResource<ConfigMap>({
    apiVersion: 'monitoring.example.org/v1',
    kind: 'Monitor',
    plural: 'monitors',
    namespaced: true,
  });
  const manager = await make({ discoveryPeriod: 30 });
  const looks: boolean[] = [];
  manager
    .controller('monitored')
    .for(configMaps)
    .owns(monitors, { cache: { optional: true, absentRetry: 20 } })
    .source(
      manager.discovery.source(monitors, () =>
        manager.cache.list(configMaps).map(({ metadata }) => metadata),
      ),
    )
    .reconcile(({ name }) => {
      if (name === 'watched') looks.push(manager.discovery.available(monitors));
      return Promise.resolve();
    });
  const stop = new AbortController();
  const running = manager.start(stop.signal);
  await user.create(configMaps, configMap('watched'));
  await until('it runs without the API', () => looks.includes(false));
  await user.create(customResourceDefinitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'monitors.monitoring.example.org' },
    spec: {
      group: 'monitoring.example.org',
      scope: 'Namespaced',
      names: { plural: 'monitors', singular: 'monitor', kind: 'Monitor' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  });
  await until('it is reconciled again, with the API', () => looks.at(-1) === true);
  await user.create(monitors, {
    apiVersion: 'monitoring.example.org/v1',
    kind: 'Monitor',
    metadata: { name: 'm', namespace: 'default' },
  } as never);
  await until(
    'its objects are in the cache',
    () => manager.cache.get(monitors, { namespace: 'default', name: 'm' }) !== undefined,
  );
  stop.abort();
  await running;
});

test('preserves unknown fields in client and cache', async (t) => {
  const { user } = await setUp(t);
  await user.create(customResourceDefinitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.org', annotations: { 'example.org/future': 'field' } },
    spec: {
      group: 'example.org',
      scope: 'Namespaced',
      names: { plural: 'things', singular: 'thing', kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  });
  interface Thing extends ConfigMap {
    spec: { known: number };
  }
  const things = defineResource<Thing>({
    apiVersion: 'example.org/v1',
    kind: 'Thing',
    plural: 'things',
    namespaced: true,
  });
  const novel = { known: 1, novel: { deep: ['x', { y: null }], big: 12_345_678_901_234 } };
  const body = {
    apiVersion: 'example.org/v1',
    kind: 'Thing',
    metadata: { name: 't', namespace: 'default' },
    spec: novel,
  };
  await until('things are served', () =>
    user.create(things, body as never).then(
      () => true,
      () => false,
    ),
  );
  const read = await user.get(things, { namespace: 'default', name: 't' });
  await user.replace(things, { ...read, spec: { ...read.spec, known: 2 } });
  const again = await user.get(things, { namespace: 'default', name: 't' });
  assert.deepEqual(again.spec, { ...novel, known: 2 });
});

test('logs JSON with the level of LOG_LEVEL, and redacts secrets', () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLog('x', { env: { LOG_LEVEL: 'warn' }, destination });
  log.info({}, 'not shown');
  log.warn({ token: 'abc', secret: { data: { key: 'abc' } } }, 'shown');
  assert.equal(lines.length, 1);
  const line = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
  assert.deepEqual([line['level'], line['msg'], line['name']], ['warn', 'shown', 'x']);
  assert.ok(!(lines[0] ?? '').includes('abc'));
  assert.throws(() => createLog('x', { level: 'loud' }), /LOG_LEVEL is "loud"; use one of debug/);
});
