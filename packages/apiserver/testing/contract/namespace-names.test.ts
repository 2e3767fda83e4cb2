import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NamespaceNames } from './namespace-names.ts';

const names = new NamespaceNames(['patch'], 'x7k2p');

test('replaces the namespace of a path, not words that look like it', () => {
  assert.equal(names.path('/api/v1/namespaces/patch/pods?a=1'), '/api/v1/namespaces/patch-x7k2p/pods?a=1');
  assert.equal(names.path('/api/v1/namespaces/patch'), '/api/v1/namespaces/patch-x7k2p');
  assert.equal(names.path('/api/v1/namespaces/patch-b/pods/patch'), '/api/v1/namespaces/patch-b/pods/patch');
  assert.equal(
    names.path('/api/v1/pods?fieldSelector=metadata.namespace%3Dpatch'),
    '/api/v1/pods?fieldSelector=metadata.namespace%3Dpatch-x7k2p',
  );
});

test('replaces fields that name a namespace and leaves every other value alone', () => {
  const sent = {
    metadata: { namespace: 'patch', name: 'patch' },
    selector: { matchLabels: { 'kubernetes.io/metadata.name': 'patch', app: 'patch' } },
    group: 'patch.example.org',
    user: 'system:serviceaccount:patch:default',
    list: [{ $patch: 'delete', namespace: 'patch' }],
  };
  assert.deepEqual(names.outgoing(sent), {
    metadata: { namespace: 'patch-x7k2p', name: 'patch' },
    selector: { matchLabels: { 'kubernetes.io/metadata.name': 'patch-x7k2p', app: 'patch' } },
    group: 'patch.example.org',
    user: 'system:serviceaccount:patch-x7k2p:default',
    list: [{ $patch: 'delete', namespace: 'patch-x7k2p' }],
  });
  assert.equal(names.outgoing('metadata:\n  namespace: patch\n'), 'metadata:\n  namespace: patch-x7k2p\n');
});

test('reads answers with the recorded names', () => {
  assert.equal(names.incoming('in the namespace "patch-x7k2p"'), 'in the namespace "patch"');
});
