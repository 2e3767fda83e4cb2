import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Health } from './health.ts';

test('each endpoint runs its own checks and reports the reason of a failure', () => {
  const health = new Health();
  let problem: string | undefined = 'pods: the first list is under way';
  health.addReadyCheck('caches', () => problem);
  health.addLiveCheck('loop', () => undefined);
  assert.deepEqual(health.answer('/readyz'), {
    status: 503,
    text: '[-]caches failed: pods: the first list is under way\nreadyz check failed\n',
  });
  assert.equal(health.answer('/livez')?.status, 200);
  problem = undefined;
  assert.equal(health.answer('/readyz')?.status, 200);
  assert.equal(health.answer('/metrics'), undefined);
});

test('a check that throws fails', () => {
  const health = new Health();
  health.addLiveCheck('broken', () => {
    throw new Error('oops');
  });
  assert.match(health.answer('/healthz')?.text ?? '', /broken failed: oops/);
});
