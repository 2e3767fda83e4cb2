/**
 * The suite where a server does late what a real one does late, all cases on one server and in shuffled order: a case that
 * only holds on a fresh server, after another case, or at once, fails here.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { startSlowServer } from '../slow/slow-server.ts';
import { type Backend, Caller } from './backend.ts';
import { recordedCases, topicOf } from './case.ts';
import { tierOf } from './case-groups.ts';
import { ClusterRun } from './cluster-run.ts';
import { leftovers } from './leftovers.ts';
import { NamespaceNames } from './namespace-names.ts';
import { namespacesOf, prepareNamespaces } from './namespaces.ts';
import { removeNamespace, removeObject } from './removal.ts';
import { replay } from './replay.ts';
import { WebhookStandIn } from './webhook-stand-in.ts';
import { knownDifferences } from './weights.ts';

/** Another order with SEED=N. */
const seed = Number(process.env['SEED'] ?? 651_646);
let server: Awaited<ReturnType<typeof startSlowServer>>;
let run: ClusterRun;

before(async () => {
  server = await startSlowServer();
  const { url, caPem, admin } = server;
  const backend: Backend = {
    name: 'slow',
    url,
    caPem,
    ...admin,
    embedded: server,
    controllers: false,
    kubelets: false,
  };
  run = await ClusterRun.start(backend, true);
});
after(async () => {
  await run.stop();
  await server.stop();
});

const cases = recordedCases().filter((recorded) => tierOf(recorded) === 'api');

test(`every case passes on a slow server, in shuffled order (SEED=${seed})`, async (t) => {
  t.diagnostic(`SEED=${seed} repeats this order`);
  const anyOrder = fc.shuffledSubarray(cases, { minLength: cases.length });
  for (const recorded of fc.sample(anyOrder, { seed, numRuns: 1 })[0] ?? []) {
    const outcome = await run.replay(recorded);
    const expected = knownDifferences[recorded.name] === undefined ? 'passed' : 'failed';
    const why = 'why' in outcome ? outcome.why : '';
    assert.equal(outcome.result, expected, `${recorded.name}, SEED=${seed}: ${why}`);
  }
});

test('such a server differs where the suite does not wait for webhooks, policies and roles', async (t) => {
  // Far later than a busy machine takes from the write of a configuration to the request that it is about.
  const slower = await startSlowServer({ milliseconds: 3_000 });
  t.after(() => slower.stop());
  const webhooks = await WebhookStandIn.start();
  t.after(() => webhooks.stop());
  const { url, caPem, admin } = slower;
  const backend: Backend = { name: 'slower', url, caPem, ...admin, embedded: slower, controllers: false };
  for (const [name, place] of [
    ['admission/01', 'early-a'],
    ['admission/18', 'early-b'],
    ['authz/02', 'early-c'],
  ] as const) {
    const [recorded] = recordedCases(name);
    assert.ok(recorded !== undefined, name);
    const names = new NamespaceNames(namespacesOf(topicOf(recorded), [recorded]), place);
    const caller = new Caller(backend, names);
    await prepareNamespaces(caller, topicOf(recorded), [recorded]);
    const found = await replay(recorded, { caller, webhooks, patience: 200 });
    assert.notEqual(found, undefined, `${name} was not compared before the configuration took effect`);
    for (const path of leftovers(recorded)) await removeObject(caller, path, 10_000);
    for (const one of namespacesOf(topicOf(recorded), [recorded]))
      await removeNamespace(caller, one, [recorded]);
    caller.close();
  }
});

test('nothing is left of the cases', () => {
  const own = new Set(cases.map(topicOf));
  const left = server.store
    .resources()
    .flatMap((resource) => server.store.list(resource).map(({ metadata }) => ({ resource, metadata })))
    .filter(
      ({ resource, metadata: { namespace = '', name = '' } }) =>
        /example\.org|webhookconfigurations|validatingadmissionpolic/.test(resource) ||
        (resource === '/namespaces' && own.has(name.replace(/-[0-9a-f]{6}-\d+$/, ''))) ||
        (own.has(namespace.replace(/-[0-9a-f]{6}-\d+$/, '')) && resource !== '/events'),
    )
    .map(({ resource, metadata }) => `${resource} ${metadata.namespace ?? ''}/${metadata.name ?? ''}`);
  assert.deepEqual(left, []);
});
