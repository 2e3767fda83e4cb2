import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Expectation, transientReason } from './transient.ts';

const list: Expectation = {
  method: 'GET',
  path: '/apis/a.example.org/v1/namespaces/x/widgets',
  status: 200,
  body: {},
  customGroups: new Set(['a.example.org']),
};
const initializing = { status: 429, text: '{"message":"storage is (re)initializing"}' };
const notFound = { status: 404, text: '404 page not found\n' };

test('names what the server waits for', () => {
  assert.match(transientReason(list, initializing) ?? '', /watch cache/);
  assert.match(transientReason(list, notFound) ?? '', /not served yet/);
  const account =
    'pods \\"a\\" is forbidden: error looking up service account x/default: serviceaccount \\"default\\" not found';
  assert.match(transientReason(list, { status: 403, text: account }) ?? '', /service account/);
});

test('takes an answer as final that the recording shows too', () => {
  assert.equal(transientReason({ ...list, status: 404, body: notFound.text }, notFound), undefined);
  const missing = { ...list, status: 404, body: { kind: 'Status', reason: 'NotFound' } };
  assert.match(transientReason(missing, notFound) ?? '', /not served yet/);
  const recorded = { ...list, status: 429, body: { message: 'storage is (re)initializing' } };
  assert.equal(transientReason(recorded, initializing), undefined);
});

test('takes every other refusal as final', () => {
  assert.equal(transientReason(list, { status: 404, text: '{"reason":"NotFound"}' }), undefined);
  assert.equal(transientReason({ ...list, path: '/apis/b.example.org/v1/widgets' }, notFound), undefined);
  assert.equal(transientReason(list, { status: 429, text: 'Cannot evict pod' }), undefined);
  assert.equal(
    transientReason(list, { status: 403, text: 'is forbidden: User "jane" cannot list' }),
    undefined,
  );
  assert.equal(transientReason(list, { status: 500, text: 'boom' }), undefined);
  assert.equal(transientReason(list, { status: 200, text: '{}' }), undefined);
});

test('asks a read again while a kind is served whose definition is gone, never a write', () => {
  const gone = { ...list, status: 404, body: '404 page not found\n' };
  assert.match(transientReason(gone, { status: 200, text: '{}' }) ?? '', /still served/);
  assert.equal(transientReason({ ...gone, method: 'POST' }, { status: 201, text: '{}' }), undefined);
});
