import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FakeAnswer, fakeTransport, status } from '../../testing/fake-transport.ts';
import { ConflictError } from '../errors.ts';
import type { Live } from '../objects/object.ts';
import { type ConfigMap, configMaps } from '../objects/resources.ts';
import { Client } from './client.ts';
import { addFinalizer, removeFinalizer } from './finalizer.ts';

const NAME = 'example.org/clean-up';
const object = (metadata: object = {}): Live<ConfigMap> => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c', namespace: 'n', uid: 'u', resourceVersion: '7', creationTimestamp: '', ...metadata },
});

function setUp(answer: (body: unknown) => FakeAnswer) {
  const bodies: unknown[] = [];
  const client = new Client(
    fakeTransport(({ body }) => {
      bodies.push(body);
      return answer(body);
    }),
  );
  return { client, bodies };
}

const merged = (body: unknown): FakeAnswer => ({ body: object((body as ConfigMap).metadata) });

test('adds a finalizer once, to exactly the object that was read', async () => {
  const { client, bodies } = setUp(merged);
  const before = object({ finalizers: ['other'] });
  const after = await addFinalizer(client, configMaps, before, NAME);
  assert.deepEqual(bodies, [{ metadata: { uid: 'u', resourceVersion: '7', finalizers: ['other', NAME] } }]);
  assert.equal(await addFinalizer(client, configMaps, after, NAME), after);
  const terminating = object({ deletionTimestamp: 't' });
  assert.equal(
    await addFinalizer(client, configMaps, terminating, NAME),
    terminating,
    'the server accepts no new finalizers on an object that is being deleted',
  );
  assert.equal(bodies.length, 1);
});

test('removing the last finalizer of a terminating object removes the object', async () => {
  const { client } = setUp((body) => ({
    body: object({ ...(body as ConfigMap).metadata, deletionTimestamp: 't' }),
  }));
  const terminating = { deletionTimestamp: 't', finalizers: [NAME] };
  assert.equal(await removeFinalizer(client, configMaps, object(terminating), NAME), undefined);
  const held = await removeFinalizer(
    client,
    configMaps,
    object({ ...terminating, finalizers: ['other', NAME] }),
    NAME,
  );
  assert.deepEqual(held?.metadata.finalizers, ['other']);
});

test('returns undefined for an object that is gone, and throws for one that changed', async () => {
  const gone = setUp(() => status(404, 'NotFound'));
  assert.equal(
    await removeFinalizer(gone.client, configMaps, object({ finalizers: [NAME] }), NAME),
    undefined,
  );
  const changed = setUp(() => status(409, 'Conflict'));
  await assert.rejects(
    removeFinalizer(changed.client, configMaps, object({ finalizers: [NAME] }), NAME),
    ConflictError,
  );
});
