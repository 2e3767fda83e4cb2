/** Leadership with an API server whose writes are slow. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { until } from '../../testing/until.ts';
import { type Log, silent } from '../log.ts';
import { configMaps } from '../objects/resources.ts';
import { Manager } from './manager.ts';

/** Stores one Lease; every other request gets no response. */
async function slowServer() {
  let lease: { metadata: { resourceVersion: string } } | undefined;
  let renewals = 0;
  let waiting = 0;
  const answer = async (request: IncomingMessage): Promise<[number, object]> => {
    if (request.method === 'GET')
      return lease === undefined ? [404, { kind: 'Status', code: 404 }] : [200, lease];
    renewals += 1;
    const sent = JSON.parse(await text(request)) as { metadata: object };
    lease = { ...sent, metadata: { ...sent.metadata, resourceVersion: String(renewals) } };
    return [200, lease];
  };
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [status, body] = await answer(request);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  const server = createServer((request, response) => {
    if (request.url?.includes('/leases') !== true) {
      waiting += 1;
      return;
    }
    void respond(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    renewals: () => renewals,
    waiting: () => waiting,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

test('the lease is renewed while every connection waits for a slow write', async () => {
  const server = await slowServer();
  const warnings: unknown[] = [];
  const log = {
    ...silent,
    warn: (_: object, message: string) => warnings.push(message),
    child: () => log,
  } as Log;
  const manager = new Manager(
    { server: server.url, namespace: 'hpc', identity: () => Promise.resolve({}) },
    {
      name: 'test',
      log,
      leaderElection: { namespace: 'hpc', name: 'lease', identity: 'a', retryPeriod: 20 },
    },
  );
  const stop = new AbortController();
  const { elector } = manager;
  assert.ok(elector !== undefined);
  await elector.acquire(stop.signal);
  const writes = Array.from({ length: 80 }, (_, at) =>
    manager.client
      .create(configMaps, { metadata: { namespace: 'hpc', name: `map-${at}` } } as never, {
        signal: stop.signal,
      })
      .catch(() => undefined),
  );
  await until('64 writes wait', () => server.waiting() >= 64);
  const held = elector.hold(stop.signal);
  const before = server.renewals();
  try {
    await until('the lease is renewed', () => server.renewals() >= before + 3);
    assert.deepEqual(warnings, []);
  } finally {
    stop.abort();
    await Promise.all([...writes, held]);
    manager.unguardedClient.close();
    server.close();
  }
});
