import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Health } from './health.ts';

test('each endpoint answers for its own checks and says why not', () => {
  const health = new Health();
  let trouble: string | undefined = 'pods: the first list is under way';
  health.addReadyCheck('caches', () => trouble);
  health.addLiveCheck('loop', () => undefined);
  assert.deepEqual(health.answer('/readyz'), {
    status: 503,
    text: '[-]caches failed: pods: the first list is under way\nreadyz check failed\n',
  });
  assert.equal(health.answer('/livez')?.status, 200);
  trouble = undefined;
  assert.equal(health.answer('/readyz')?.status, 200);
  assert.equal(health.answer('/metrics'), undefined);
});

test('a check that throws is a check that fails', () => {
  const health = new Health();
  health.addLiveCheck('broken', () => {
    throw new Error('oops');
  });
  assert.match(health.answer('/healthz')?.text ?? '', /broken failed: oops/);
});
