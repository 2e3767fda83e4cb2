import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Live, pods, replicaSets } from '../index.ts';
import { ChannelSource, ownerMap } from './source.ts';

test('enqueues keys that were triggered before the start once, and ignores triggers after the end', () => {
  const source = new ChannelSource();
  for (let i = 0; i < 1_000; i += 1) source.trigger({ namespace: 'n', name: `o${i % 3}` });
  const keys: string[] = [];
  const stop = new AbortController();
  source.start((key) => keys.push(key), stop.signal);
  assert.deepEqual(keys, ['n/o0', 'n/o1', 'n/o2']);
  source.trigger({ name: 'wide' });
  assert.equal(keys.at(-1), 'wide');
  stop.abort();
  source.trigger({ name: 'late' });
  assert.equal(keys.at(-1), 'wide');
});

test('maps a child to its controlling owner, only of the right kind and group', () => {
  const child = (apiVersion: string, kind: string, controller: boolean): Live => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'p',
      namespace: 'n',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '',
      ownerReferences: [{ apiVersion, kind, name: 'owner', uid: 'o', controller }],
    },
  });
  const map = ownerMap(replicaSets);
  assert.deepEqual([...map(child('apps/v1', 'ReplicaSet', true))], [{ namespace: 'n', name: 'owner' }]);
  assert.deepEqual([...map(child('apps/v2', 'ReplicaSet', true))], [{ namespace: 'n', name: 'owner' }]);
  assert.deepEqual([...map(child('apps/v1', 'ReplicaSet', false))], []);
  assert.deepEqual([...map(child('other.org/v1', 'ReplicaSet', true))], []);
  assert.deepEqual([...map(child('apps/v1', 'StatefulSet', true))], []);
  assert.deepEqual([...ownerMap(pods)(child('v1', 'Pod', true))], [{ namespace: 'n', name: 'owner' }]);
});
