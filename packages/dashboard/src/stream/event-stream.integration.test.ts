/** Streams over real sockets: each gets every event, slow readers lose their queue only, one user cannot take all places. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import { until } from '@slurm-operator/kube/testing';
import { systemClock } from '@slurm-operator/slurm';
import { ManualClock } from '@slurm-operator/slurm/testing';
import type { StreamOwner } from '../identity/sessions.ts';
import { EventStreams, type EventStreamsOptions, serverEvent } from './event-stream.ts';

async function serve(
  options: Partial<EventStreamsOptions> = {},
  owner: (user: string) => StreamOwner = (user) => ({ user }),
) {
  const streams = new EventStreams({ clock: systemClock, ...options });
  let answered = 0;
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const opened = streams.open(response, owner(request.url ?? ''), [
      serverEvent('hello', { version: 1 }, 1),
    ]);
    answered += 1;
    if (opened !== 'opened') response.writeHead(503).end(opened);
  };
  const server = createServer((request, response) => {
    if (request.url === '/leaves') response.once('close', () => answer(request, response));
    else answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const open = async (user: string) => {
    const [response] = (await once(get({ host: '127.0.0.1', port, path: user }), 'response')) as [
      IncomingMessage,
    ];
    response.on('error', () => {});
    return response;
  };
  return {
    streams,
    server,
    port,
    answered: () => answered,
    open,
    [Symbol.asyncDispose]: async () => {
      streams[Symbol.dispose]();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function textOf(response: IncomingMessage): () => string {
  let text = '';
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    text += chunk;
  });
  return () => text;
}

test('every stream gets every event in order, and the number of the last one', async () => {
  await using at = await serve();
  const texts = await Promise.all(['/a', '/b', '/c'].map(async (user) => textOf(await at.open(user))));
  await until('three streams', () => at.streams.size === 3);
  for (let id = 2; id < 40; id += 1) at.streams.send(serverEvent('nodes', { id }, id));
  for (const text of texts) await until('the last event', () => text().includes('id: 39\n'));
  for (const text of texts)
    assert.deepEqual(
      [...text().matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id)),
      Array.from({ length: 39 }, (_, index) => index + 1),
    );
});

test('a browser that does not read is told to read again, and costs no more memory than its buffer', async () => {
  await using at = await serve({ mostBuffered: 100_000 });
  const slow = await at.open('/slow');
  const text = textOf(await at.open('/fast'));
  slow.pause();
  await until('two streams', () => at.streams.size === 2);
  const event = serverEvent('nodes', 'x'.repeat(20_000));
  for (let count = 0; count < 500; count += 1) {
    at.streams.send(event);
    await new Promise((resolve) => setImmediate(resolve));
  }
  at.streams.send(serverEvent('last', {}));
  await until('the fast one has everything', () => text().includes('event: last'));
  assert.equal(text().match(/event: nodes/g)?.length, 500);
  const slowText = textOf(slow);
  slow.resume();
  await until('the slow one is told to read again', () => slowText().includes('event: resync'));
  at.streams.send(serverEvent('after', {}));
  await until('it goes on', () => {
    if (slowText().includes('event: after')) return true;
    at.streams.send(serverEvent('after', {}));
    return false;
  });
});

test('places are limited in all and for each user, and are free again after the browser left', async () => {
  await using at = await serve({ mostStreams: 4, mostOfUser: 2 });
  const first = await at.open('/a');
  await at.open('/a');
  assert.equal((await at.open('/a')).statusCode, 503);
  await at.open('/b');
  await at.open('/c');
  assert.equal((await at.open('/d')).statusCode, 503);
  first.destroy();
  await until('a place is free', () => at.streams.size === 3);
  assert.equal((await at.open('/a')).statusCode, 200);
});

test('a browser that left before it was known what it may see takes no place', async () => {
  await using at = await serve({ mostOfUser: 1 });
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const sent = get({ host: '127.0.0.1', port: at.port, path: '/leaves' });
    sent.on('error', () => {});
    await once(sent, 'socket');
    const [socket] = (await once(at.server, 'connection')) as [Socket];
    await until('the request is there', () => socket.bytesRead > 0);
    sent.destroy();
    await once(socket, 'close');
  }
  await until('all were answered', () => at.answered() === 3);
  assert.equal(at.streams.size, 0);
});

test('a stream ends with its session, and when its user may no longer see the cluster', async () => {
  const clock = new ManualClock(0);
  let mayGoOn = true;
  await using at = await serve({ clock }, (user) =>
    user === '/short' ? { user, expiresAt: 50_000 } : { user, mayGoOn: async () => mayGoOn },
  );
  const [short, long] = [await at.open('/short'), await at.open('/long')];
  const [shortEnded, longEnded] = [once(short.resume(), 'end'), once(long.resume(), 'end')];
  clock.advance(45_000);
  assert.equal(at.streams.size, 2);
  clock.advance(15_000);
  await shortEnded;
  await until('one is left', () => at.streams.size === 1);
  mayGoOn = false;
  clock.advance(60_000);
  await longEnded;
  await until('none is left', () => at.streams.size === 0);
});

test('while it is not known whether a user may see the cluster, the stream goes on', async () => {
  const clock = new ManualClock(0);
  let asked = 0;
  await using at = await serve({ clock }, (user) => ({
    user,
    mayGoOn: () => {
      asked += 1;
      return Promise.reject(new Error('the API server does not answer'));
    },
  }));
  const text = textOf(await at.open('/a'));
  clock.advance(60_000);
  await until('it was asked', () => asked === 1);
  at.streams.send(serverEvent('after', {}));
  await until('the stream goes on', () => text().includes('event: after'));
});
