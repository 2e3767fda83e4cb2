import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withPodSpec } from './with-pod-spec.ts';

test('a NodeSet made from another one keeps the volumes that its containers mount', () => {
  const people = { name: 'people', configMap: { name: 'people' } };
  const key = { name: 'key', secret: { secretName: 'no-such-secret' } };
  const template = { metadata: { labels: { a: 'b' } }, spec: { hostname: 'long-', volumes: [people] } };
  assert.deepEqual(withPodSpec(template, { hostname: 'far-', nodeSelector: { 'no-such': 'label' } }), {
    ...template,
    spec: { hostname: 'far-', nodeSelector: { 'no-such': 'label' }, volumes: [people] },
  });
  assert.deepEqual(withPodSpec(template, { volumes: [key] }).spec.volumes, [people, key]);
  assert.deepEqual(withPodSpec({}, { hostname: 'far-' }), { spec: { hostname: 'far-' } });
});
