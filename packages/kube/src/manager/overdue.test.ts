/** A reconcile that ignores its abort: a metric for alerts, and finally a failed liveness check. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../testing/fake-clock.ts';
import { ChannelSource } from '../controller/source.ts';
import { Manager } from './manager.ts';

test('an overdue reconcile is counted, and ten minutes later only a restart helps', async () => {
  const clock = new FakeClock();
  const config = { server: 'http://127.0.0.1:1', namespace: 'default', identity: () => Promise.resolve({}) };
  const manager = new Manager(config, { name: 'test', config, clock });
  const source = new ChannelSource();
  const ended = Promise.withResolvers<void>();
  const controller = manager
    .controller('web')
    .source(source)
    .options({ deadline: 1_000 })
    .reconcile(() => ended.promise);
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  const counted = async () =>
    /overdue_reconciles\{controller="web"\} (\d+)/.exec(await manager.metrics.expose())?.[1];
  assert.equal(await counted(), '0');
  source.trigger({ name: 'stuck' });
  await clock.advance(6_000);
  assert.equal(await counted(), '1');
  await clock.advance(10 * 60_000);
  assert.equal(manager.health.answer('/livez')?.status, 200, 'it may still end');
  await clock.advance(1_000);
  const { status, text } = manager.health.answer('/livez') ?? {};
  assert.equal(status, 503);
  assert.match(text ?? '', /\[-\]reconciles failed: web: a reconcile is still running 10 minutes after/);

  ended.resolve();
  await clock.advance(1);
  assert.equal(await counted(), '0');
  assert.equal(manager.health.answer('/livez')?.status, 200);
  stop.abort();
  await running;
});
