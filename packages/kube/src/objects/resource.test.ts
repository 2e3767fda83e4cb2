import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareResourceVersions, keyOf, refOf } from './object.ts';
import { defineResource, pathOf, resourceName } from './resource.ts';
import { nodes, pods } from './resources.ts';

const webs = defineResource({ apiVersion: 'example.org/v1', kind: 'Web', plural: 'webs', namespaced: true });

test('paths of core, grouped, cluster-scoped and sub resources', () => {
  assert.equal(pathOf(pods), '/api/v1/pods');
  assert.equal(pathOf(pods, { namespace: 'n', name: 'p' }), '/api/v1/namespaces/n/pods/p');
  assert.equal(
    pathOf(webs, { namespace: 'n', name: 'w', subresource: 'status' }),
    '/apis/example.org/v1/namespaces/n/webs/w/status',
  );
  assert.equal(pathOf(nodes, { namespace: 'ignored', name: 'n1' }), '/api/v1/nodes/n1');
});

test('a name cannot escape its path', () => {
  assert.equal(
    pathOf(pods, { namespace: 'n', name: '../secrets/x' }),
    '/api/v1/namespaces/n/pods/..%2Fsecrets%2Fx',
  );
  assert.throws(() => pathOf(pods, { namespace: 'n', name: '..' }), /not a valid object name/);
  assert.throws(() => pathOf(pods, { namespace: 'n', name: '' }), TypeError);
  assert.throws(() => pathOf(pods, { name: 'p' }), /a namespace is required/);
});

test('converts keys to references and back', () => {
  assert.equal(keyOf({ metadata: { namespace: 'n', name: 'p' } }), 'n/p');
  assert.deepEqual(refOf('n/p'), { namespace: 'n', name: 'p' });
  assert.deepEqual(refOf(keyOf({ name: 'node' })), { name: 'node' });
  assert.equal(resourceName(webs), 'webs.example.org');
});

test('resourceVersions are compared as numbers of any length', () => {
  assert.ok(compareResourceVersions('9', '10') < 0);
  assert.ok(compareResourceVersions('18446744073709551615', '18446744073709551614') > 0);
  assert.equal(compareResourceVersions('7', '7'), 0);
});
