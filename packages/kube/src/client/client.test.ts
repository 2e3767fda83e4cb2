import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FakeAnswer, fakeTransport, status } from '../../testing/fake-transport.ts';
import { MalformedError, NotFoundError } from '../errors.ts';
import { configMaps, namespaces, pods } from '../objects/resources.ts';
import { Client } from './client.ts';

function setUp(answer: (method: string) => FakeAnswer) {
  const sent: { method: string; path: string; query: string; body: unknown }[] = [];
  const seen: string[] = [];
  const client = new Client(
    fakeTransport(({ method, path, query, body }) => {
      sent.push({ method, path, query: query.toString(), body });
      return answer(method);
    }),
    { fieldManager: 'me & you' },
  );
  client.observe({
    written: (_resource, object) => void seen.push(`written ${object.metadata.resourceVersion}`),
    gone: (_resource, ref, uid) => void seen.push(`gone ${ref.name} ${uid}`),
  });
  return { client, sent, seen };
}

const ref = { namespace: 'n', name: 'p' };
const pod = (metadata: object = {}, rest: object = {}) => ({
  body: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...ref, uid: 'u', resourceVersion: '5', creationTimestamp: '', ...metadata },
    ...rest,
  },
});

const deletionTimestamp = '2026-01-01T00:00:00Z';
const deletes: [what: string, answer: FakeAnswer, gone: boolean, seen: string[]][] = [
  [
    'a Status: it is gone',
    { body: { kind: 'Status', status: 'Success', details: { uid: 'u' } } },
    true,
    ['gone p u'],
  ],
  ['a pod that was not bound', pod({ deletionTimestamp, deletionGracePeriodSeconds: 0 }), true, ['gone p u']],
  [
    'a pod with time to end',
    pod({ deletionTimestamp, deletionGracePeriodSeconds: 30 }),
    false,
    ['written 5'],
  ],
  [
    'held by a finalizer',
    pod({ deletionTimestamp, deletionGracePeriodSeconds: 0, finalizers: ['x'] }),
    false,
    ['written 5'],
  ],
  ['not there at all', status(404, 'NotFound'), false, []],
];
for (const [what, answer, gone, expected] of deletes)
  test(`delete with the response ${what}`, async () => {
    const { client, seen } = setUp(() => answer);
    assert.equal(await client.delete(pods, ref), gone);
    assert.deepEqual(seen, expected);
  });

test('a 404 for a delete with a uid reports the object as gone', async () => {
  const { client, seen, sent } = setUp(() => status(404, 'NotFound'));
  await client.delete(pods, ref, {
    uid: 'u',
    resourceVersion: '4',
    propagation: 'Foreground',
    gracePeriodSeconds: 1,
  });
  assert.deepEqual(seen, ['gone p u']);
  assert.deepEqual(sent[0]?.body, {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: 'Foreground',
    gracePeriodSeconds: 1,
    preconditions: { uid: 'u', resourceVersion: '4' },
  });
});

test('a terminating Namespace is not gone yet', async () => {
  const { client, seen } = setUp(() => ({
    body: {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'n', uid: 'u', resourceVersion: '5', deletionTimestamp },
      spec: { finalizers: ['kubernetes'] },
    },
  }));
  assert.equal(await client.delete(namespaces, { name: 'n' }), false);
  assert.deepEqual(seen, ['written 5']);
});

test('does not pass dry runs and responses of another kind to observers', async () => {
  const { client, seen, sent } = setUp(() => pod());
  await client.mergePatch(pods, ref, { metadata: {} }, { dryRun: true });
  assert.equal(sent[0]?.query, 'fieldManager=me+%26+you&dryRun=All');
  const scaled = setUp(() => ({
    body: { kind: 'Scale', metadata: { ...ref, uid: 'u', resourceVersion: '9' } },
  }));
  await scaled.client.mergePatch(pods, ref, {}, { subresource: 'scale' });
  assert.deepEqual([...seen, ...scaled.seen], []);
});

test('apply sends the field manager, force, apiVersion and kind', async () => {
  const { client, sent } = setUp(() => pod());
  const intent = { metadata: { ...ref, labels: { a: 'b' } }, spec: { nodeName: 'n1' } };
  await client.apply(pods, intent);
  assert.equal(sent[0]?.query, 'fieldManager=me+%26+you&force=true');
  assert.deepEqual(sent[0]?.body, { ...intent, apiVersion: 'v1', kind: 'Pod' });
});

test('find returns undefined for a 404, and throws every other error', async () => {
  const { client } = setUp(() => status(404, 'NotFound'));
  assert.equal(await client.find(configMaps, ref), undefined);
  await assert.rejects(client.get(configMaps, ref), NotFoundError);
  const broken = new Client({
    request: () => Promise.resolve({ status: 200, headers: {}, body: Buffer.from('<html>') }),
  } as never);
  await assert.rejects(broken.find(configMaps, ref), MalformedError);
});
