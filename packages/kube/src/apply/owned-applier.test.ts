import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FakeAnswer, fakeTransport } from '../../testing/fake-transport.ts';
import { Cache } from '../cache/cache.ts';
import { Client } from '../client/client.ts';
import { NotOwnedError } from '../errors.ts';
import type { Live } from '../objects/object.ts';
import { type ConfigMap, configMaps } from '../objects/resources.ts';
import { OwnedApplier } from './owned-applier.ts';

const owner: Live = {
  apiVersion: 'example.org/v1',
  kind: 'Web',
  metadata: { name: 'w', namespace: 'n', uid: 'owner-uid', resourceVersion: '1', creationTimestamp: '' },
};
const intent = (data: Record<string, string | undefined>) => ({
  metadata: { namespace: 'n', name: 'child' },
  data: data as Record<string, string>,
});

/** A server that stores applied objects, and a cache that receives them as if from a watch. */
function setUp() {
  let version = 100;
  let stored: Live<ConfigMap> | undefined;
  const bodies: unknown[] = [];
  const client = new Client(
    fakeTransport(({ method, body }): FakeAnswer => {
      assert.equal(method, 'PATCH');
      bodies.push(body);
      version += 1;
      const metadata = {
        ...(body as ConfigMap).metadata,
        uid: 'child-uid',
        creationTimestamp: '',
        resourceVersion: String(version),
      };
      stored = { ...(body as ConfigMap), metadata };
      return { body: stored };
    }),
  );
  const cache = new Cache(client);
  const informer = cache.informer(configMaps);
  const applier = new OwnedApplier(client, cache);
  const show = (change: object = {}, fields: object = {}) => {
    version += 1;
    assert.ok(stored);
    stored = {
      ...stored,
      ...fields,
      metadata: { ...stored.metadata, ...change, resourceVersion: String(version) },
    };
    informer.adopt([stored], String(version));
  };
  informer.adopt([], '100');
  return { applier, bodies, show, informer };
}

test('sends nothing while neither the intent nor the live object changes', async () => {
  const { applier, bodies } = setUp();
  assert.equal((await applier.apply(configMaps, owner, intent({ k: 'v' }))).outcome, 'applied');
  for (let again = 0; again < 5; again += 1)
    assert.equal((await applier.apply(configMaps, owner, intent({ k: 'v' }))).outcome, 'unchanged');
  assert.equal(bodies.length, 1);
  assert.equal((await applier.apply(configMaps, owner, intent({ k: 'w' }))).outcome, 'applied');
  assert.equal(bodies.length, 2);
});

test('ignores live changes of other fields and reverts changes of our fields', async () => {
  const { applier, bodies, show } = setUp();
  await applier.apply(configMaps, owner, intent({ k: 'v' }));
  show({ annotations: { 'someone.else/was': 'here' } });
  assert.equal((await applier.apply(configMaps, owner, intent({ k: 'v' }))).outcome, 'unchanged');
  show({}, { data: { k: 'spoilt' } });
  assert.equal((await applier.apply(configMaps, owner, intent({ k: 'v' }))).outcome, 'applied');
  assert.equal(bodies.length, 2);
});

test('applies again when a field is removed from the intent, even if the live object covers the rest', async () => {
  const { applier, bodies } = setUp();
  await applier.apply(configMaps, owner, intent({ k: 'v', old: 'x' }));
  await applier.apply(configMaps, owner, intent({ k: 'v', old: undefined }));
  assert.deepEqual((bodies[1] as ConfigMap).data, { k: 'v' });
});

test('sets the owner reference and recreates a deleted child', async () => {
  const { applier, bodies, informer } = setUp();
  await applier.apply(configMaps, owner, intent({ k: 'v' }));
  const [reference] = (bodies[0] as ConfigMap).metadata.ownerReferences ?? [];
  assert.deepEqual([reference?.uid, reference?.controller], ['owner-uid', true]);
  informer.adopt([], '200');
  assert.equal((await applier.apply(configMaps, owner, intent({ k: 'v' }))).outcome, 'applied');
});

test('applies to another object of the same name even if it covers the intent: we do not own its fields yet', async () => {
  const { applier, bodies, show } = setUp();
  await applier.apply(configMaps, owner, intent({ k: 'v' }));
  show({ uid: 'created-by-a-user' });
  assert.equal((await applier.apply(configMaps, owner, intent({ k: 'v' }))).outcome, 'applied');
  assert.equal(bodies.length, 2);
});

test('does not change a child that is being deleted', async () => {
  const { applier, bodies, show } = setUp();
  await applier.apply(configMaps, owner, intent({ k: 'v' }));
  show({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x'] });
  assert.equal((await applier.apply(configMaps, owner, intent({ k: 'w' }))).outcome, 'terminating');
  assert.equal(bodies.length, 1);
});

test('does not change an object of the same name that another controller owns', async () => {
  const { applier, bodies, show } = setUp();
  await applier.apply(configMaps, owner, intent({ k: 'v' }));
  show({ ownerReferences: [{ apiVersion: 'v1', kind: 'Other', name: 'o', uid: 'other', controller: true }] });
  await assert.rejects(applier.apply(configMaps, owner, intent({ k: 'v' })), NotOwnedError);
  show({ ownerReferences: [] });
  await assert.rejects(
    applier.apply(configMaps, owner, intent({ k: 'w' }), { adopt: false }),
    /no controller/,
  );
  assert.equal(bodies.length, 1);
});
