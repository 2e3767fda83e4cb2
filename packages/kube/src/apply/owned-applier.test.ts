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

/** A server that stores what is applied, and a cache that is told of it as if by a watch. */
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

test('nothing is sent while neither the intent nor the live object changed', async () => {
  const { applier, bodies } = setUp();
  assert.equal((await applier.apply(configMaps, owner, intent({ k: 'v' }))).outcome, 'applied');
  for (let again = 0; again < 5; again += 1)
    assert.equal((await applier.apply(configMaps, owner, intent({ k: 'v' }))).outcome, 'unchanged');
  assert.equal(bodies.length, 1);
  assert.equal((await applier.apply(configMaps, owner, intent({ k: 'w' }))).outcome, 'applied');
  assert.equal(bodies.length, 2);
});

test('a live change that leaves our fields alone costs nothing; one that touches them is undone', async () => {
  const { applier, bodies, show } = setUp();
  await applier.apply(configMaps, owner, intent({ k: 'v' }));
  show({ annotations: { 'someone.else/was': 'here' } });
  assert.equal((await applier.apply(configMaps, owner, intent({ k: 'v' }))).outcome, 'unchanged');
  show({}, { data: { k: 'spoilt' } });
  assert.equal((await applier.apply(configMaps, owner, intent({ k: 'v' }))).outcome, 'applied');
  assert.equal(bodies.length, 2);
});

test('a field that leaves the intent is sent as its absence, also if the live object covers the rest', async () => {
  const { applier, bodies } = setUp();
  await applier.apply(configMaps, owner, intent({ k: 'v', old: 'x' }));
  await applier.apply(configMaps, owner, intent({ k: 'v', old: undefined }));
  assert.deepEqual((bodies[1] as ConfigMap).data, { k: 'v' });
});

test('the child points to its owner, and a deleted child is made again', async () => {
  const { applier, bodies, informer } = setUp();
  await applier.apply(configMaps, owner, intent({ k: 'v' }));
  const [reference] = (bodies[0] as ConfigMap).metadata.ownerReferences ?? [];
  assert.deepEqual([reference?.uid, reference?.controller], ['owner-uid', true]);
  informer.adopt([], '200');
  assert.equal((await applier.apply(configMaps, owner, intent({ k: 'v' }))).outcome, 'applied');
});

test('a namesake that happens to look right is applied to all the same: its fields are not ours yet', async () => {
  const { applier, bodies, show } = setUp();
  await applier.apply(configMaps, owner, intent({ k: 'v' }));
  show({ uid: 'made-by-somebody' });
  assert.equal((await applier.apply(configMaps, owner, intent({ k: 'v' }))).outcome, 'applied');
  assert.equal(bodies.length, 2);
});

test('a child that is being deleted is left alone until it is gone', async () => {
  const { applier, bodies, show } = setUp();
  await applier.apply(configMaps, owner, intent({ k: 'v' }));
  show({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x'] });
  assert.equal((await applier.apply(configMaps, owner, intent({ k: 'w' }))).outcome, 'terminating');
  assert.equal(bodies.length, 1);
});

test('a namesake of another controller is not touched', async () => {
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
