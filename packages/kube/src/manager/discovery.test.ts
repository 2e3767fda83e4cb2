import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../testing/fake-clock.ts';
import { fakeTransport, status } from '../../testing/fake-transport.ts';
import { Client } from '../client/client.ts';
import { defineResource } from '../objects/resource.ts';
import { Discovery } from './discovery.ts';

const monitors = defineResource({
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'ServiceMonitor',
  plural: 'servicemonitors',
  namespaced: true,
});

test('an optional API may be absent, be added and be removed; an outage changes nothing', async () => {
  const clock = new FakeClock();
  let server: 'absent' | 'present' | 'down' = 'absent';
  const client = new Client(
    fakeTransport(() => {
      if (server === 'down') throw new Error('unreachable');
      return server === 'absent'
        ? status(404, 'NotFound')
        : { body: { resources: [{ name: 'servicemonitors' }] } };
    }),
  );
  const discovery = new Discovery(client, { clock });
  const news: boolean[] = [];
  discovery.track(monitors, (available) => news.push(available));
  const keys: string[] = [];
  const stop = new AbortController();
  await discovery
    .source(monitors, () => [{ namespace: 'n', name: 'w' }])
    .start((key) => keys.push(key), stop.signal);
  const running = discovery.run(stop.signal);
  await clock.advance(120_000);
  assert.deepEqual([discovery.available(monitors), news], [false, []]);
  server = 'present';
  await clock.advance(40_000);
  assert.deepEqual([discovery.available(monitors), news, keys], [true, [true], ['n/w']]);
  server = 'down';
  await clock.advance(120_000);
  assert.deepEqual([discovery.available(monitors), news], [true, [true]]);
  server = 'absent';
  await clock.advance(40_000);
  assert.deepEqual(news, [true, false]);
  stop.abort();
  await clock.advance(0);
  await running;
});
