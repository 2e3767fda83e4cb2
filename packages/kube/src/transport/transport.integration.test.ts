/** The transport on loopback: retries, deadlines, rotated credentials. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect as connectTcp, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { createAuthority, issueServing } from '@slurm-operator/kubernetes-values';
import type { ClusterConfig } from '../config/config.ts';
import { kubeconfigConfig } from '../config/kubeconfig.ts';
import { AbortedError, ConnectionError, DeadlineError, NotLeaderError } from '../errors.ts';
import { Transport, type TransportOptions } from './transport.ts';

const DAY = 86_400_000;

function listen(t: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  t.after(
    () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  );
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

async function plain(t: TestContext, handle: RequestListener, options: TransportOptions = {}) {
  const port = await listen(t, createHttpServer(handle));
  const config: ClusterConfig = {
    server: `http://127.0.0.1:${port}`,
    namespace: 'default',
    identity: () => Promise.resolve({}),
  };
  const transport = new Transport(config, { rateLimit: false, retry: { initial: 1, limit: 5 }, ...options });
  t.after(() => transport.close());
  return transport;
}

const get = { method: 'GET', path: '/x', doing: 'get x' };
const post = { method: 'POST', path: '/x', body: '{}', doing: 'create x' };

test('sends a header with several values as several lines', async (t) => {
  const { promise, resolve } = Promise.withResolvers<string[]>();
  const port = await listen(
    t,
    createHttpServer((request, response) => {
      resolve(request.headersDistinct['impersonate-group'] ?? []);
      response.end('{}');
    }),
  );
  const transport = new Transport({
    server: `http://127.0.0.1:${port}`,
    namespace: 'default',
    headers: { 'Impersonate-Group': ['dev', 'ops'] },
    identity: () => Promise.resolve({}),
  });
  t.after(() => transport.close());
  await transport.request(get);
  assert.deepEqual(await promise, ['dev', 'ops']);
});

test('retries a GET after resets, 429 and 503; a POST only if the server did nothing', async (t) => {
  let calls = 0;
  const script: Record<string, (response: ServerResponse, request: IncomingMessage) => void> = {
    reset: (response) => response.socket?.resetAndDestroy(),
    busy: (response) => response.writeHead(429).end(),
    later: (response) => response.writeHead(503, { 'Retry-After': '0' }).end(),
    ok: (response) => response.end('{"ok":true}'),
    half: (response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('{"ok"');
      setImmediate(() => response.socket?.resetAndDestroy());
    },
  };
  let plan: string[] = [];
  const transport = await plain(t, (request, response) => {
    calls += 1;
    request.resume();
    script[plan.shift() ?? 'ok']?.(response, request);
  });
  plan = ['reset', 'busy', 'later', 'half', 'reset'];
  const { status, body } = await transport.request(get);
  assert.deepEqual([status, body.toString(), calls], [200, '{"ok":true}', 6]);

  calls = 0;
  plan = ['reset'];
  await assert.rejects(transport.request(post), (error) => error instanceof ConnectionError && error.sent);
  assert.equal(calls, 1, 'a write that may have happened is not repeated');

  calls = 0;
  plan = ['busy'];
  assert.equal(
    (await transport.request(post)).status,
    429,
    'an eviction that a budget refuses looks like this',
  );
  plan = ['later', 'later'];
  calls = 0;
  assert.equal((await transport.request(post)).status, 200);
  assert.equal(calls, 3);
});

test('retries a write to an unreachable server until the deadline, since it was never sent', async (t) => {
  const server = createHttpServer();
  const port = await listen(t, server);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  const config = { server: `http://127.0.0.1:${port}`, namespace: 'd', identity: () => Promise.resolve({}) };
  const transport = new Transport(config, { rateLimit: false, retry: { initial: 1, limit: 5 } });
  await assert.rejects(
    transport.request({ ...post, timeout: 100 }),
    (error) => error instanceof DeadlineError && error.cause instanceof ConnectionError && !error.cause.sent,
  );
});

test('retries after too long without data, before or within a response', async (t) => {
  let calls = 0;
  const transport = await plain(
    t,
    (_request, response) => {
      calls += 1;
      if (calls === 1) return;
      if (calls === 2) return void response.writeHead(200, { 'Content-Length': '10' }).write('123');
      response.end('done');
    },
    { silence: 50 },
  );
  assert.equal((await transport.request(get)).body.toString(), 'done');
  // On a stalled machine a slow response may also count as a timeout and be retried.
  assert.ok(calls >= 3, `${calls} calls`);
});

test('the deadline and an abort end a call at any stage', async (t) => {
  const transport = await plain(t, (request, response) => {
    if (request.url === '/headers') response.writeHead(200).write('x');
  });
  await assert.rejects(transport.request({ ...post, timeout: 50 }), DeadlineError);
  await assert.rejects(transport.request({ ...post, path: '/headers', timeout: 50 }), DeadlineError);
  const caller = new AbortController();
  const waiting = transport.request({ ...post, signal: caller.signal });
  setTimeout(() => caller.abort(), 10);
  await assert.rejects(waiting, AbortedError);
  await assert.rejects(transport.request({ ...post, signal: caller.signal }), AbortedError);
});

test('renewing connections closes idle ones', async (t) => {
  const open = new Set<Socket>();
  const transport = await plain(t, ({ socket }, response) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    response.end('{}');
  });
  await transport.request(get);
  const [first] = open;
  assert.ok(first);
  const closed = once(first, 'close', { signal: AbortSignal.timeout(60_000) });
  transport.connections.renew();
  await closed;
  await transport.request(get);
  assert.equal(open.size, 1);
});

test('the deadline also applies to a call that waits for a connection', { timeout: 120_000 }, async (t) => {
  const arrived = Promise.withResolvers<void>();
  const transport = await plain(
    t,
    (request, response) => {
      if (request.url === '/busy') arrived.resolve();
      else response.end('{}');
    },
    { maxSockets: 1, silence: 300_000 },
  );
  const caller = new AbortController();
  const busy = transport.request({ ...post, path: '/busy', timeout: 300_000, signal: caller.signal });
  await arrived.promise;
  await assert.rejects(transport.request({ ...post, timeout: 50 }), DeadlineError);
  assert.equal((await transport.request(get)).status, 200, 'on a connection of its own from then on');
  caller.abort();
  await assert.rejects(busy, AbortedError);
});

test('streams do not use the connections of requests', async (t) => {
  const transport = await plain(
    t,
    (request, response) => {
      if (request.url === '/stream') response.writeHead(200).flushHeaders();
      else response.end('{}');
    },
    // Timeouts so long that only the response ends the wait.
    { maxSockets: 1, silence: 300_000, timeout: 60_000 },
  );
  for (let streams = 0; streams < 3; streams += 1) {
    const message = await transport.open({ ...get, path: '/stream' });
    message.on('error', () => undefined);
  }
  assert.equal((await transport.request(get)).status, 200);
  assert.equal((await transport.request(post)).status, 200);
});

test('a guard that throws right before the send prevents it', async (t) => {
  let calls = 0;
  const transport = await plain(t, (_request, response) => {
    calls += 1;
    response.end('{}');
  });
  let leading = true;
  const guard = () => {
    if (!leading) throw new NotLeaderError('not now');
  };
  assert.equal((await transport.request({ ...post, guard })).status, 200);
  leading = false;
  await assert.rejects(transport.request({ ...post, guard }), NotLeaderError);
  assert.equal(calls, 1);
  leading = true;
  assert.equal((await transport.request({ ...post, guard })).status, 200);
  assert.equal((await transport.request(post)).status, 200);
});

test('a rotated token is read again when the old one is refused', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'transport-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const seen: (string | undefined)[] = [];
  let valid = 'one';
  const server = createHttpServer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(request.headers.authorization === `Bearer ${valid}` ? 200 : 401).end('{}');
  });
  const port = await listen(t, server);
  writeFileSync(join(directory, 'token'), 'one');
  const text = JSON.stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: 'u', user: { tokenFile: join(directory, 'token') } }],
  });
  const transport = new Transport(await kubeconfigConfig({ text }), { rateLimit: false });
  t.after(() => transport.close());
  assert.equal((await transport.request(get)).status, 200);
  valid = 'two';
  writeFileSync(join(directory, 'token'), 'two');
  assert.equal((await transport.request(post)).status, 200);
  assert.deepEqual(seen, ['Bearer one', 'Bearer one', 'Bearer two']);
  valid = 'three';
  assert.equal((await transport.request(get)).status, 401, 'retried once');
  assert.equal(seen.length, 5);
});

test('uses a renewed client certificate and a new authority without a restart', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'transport-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const now = Date.now();
  const authority = await createAuthority({ name: 'one', now, lifetime: DAY });
  const names = { hosts: ['api.internal'], now, lifetime: DAY };
  const serving = await issueServing(authority, names);
  // A serving certificate is accepted as a client certificate here: the server only checks the signature and the dates.
  const good = await issueServing(authority, { ...names, hosts: ['client'] });
  const expired = await issueServing(authority, {
    ...names,
    hosts: ['client'],
    now: now - 2 * DAY,
    lifetime: DAY,
  });
  const clients: string[] = [];
  const server = createHttpsServer(
    {
      cert: serving.certificatePem,
      key: serving.keyPem,
      ca: authority.certificatePem,
      requestCert: true,
      rejectUnauthorized: false,
    },
    (request, response) => {
      const peer = (request.socket as TLSSocket).getPeerX509Certificate();
      const isValid = peer !== undefined && Date.parse(peer.validTo) > Date.now();
      clients.push(isValid ? 'valid' : 'expired');
      response.writeHead(isValid ? 200 : 401).end('{}');
    },
  );
  const port = await listen(t, server);
  const write = (name: string, text: string) => writeFileSync(join(directory, name), text);
  write('ca', authority.certificatePem);
  write('cert', expired.certificatePem);
  write('key', expired.keyPem);
  const path = (name: string) => join(directory, name);
  const text = JSON.stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [
      {
        name: 'c',
        cluster: {
          server: `https://127.0.0.1:${port}`,
          'tls-server-name': 'api.internal',
          'certificate-authority': path('ca'),
        },
      },
    ],
    users: [{ name: 'u', user: { 'client-certificate': path('cert'), 'client-key': path('key') } }],
  });
  const transport = new Transport(await kubeconfigConfig({ text }), {
    rateLimit: false,
    retry: { initial: 1, limit: 5 },
  });
  t.after(() => transport.close());
  assert.equal((await transport.request(get)).status, 401);
  write('cert', good.certificatePem);
  write('key', good.keyPem);
  assert.equal((await transport.request(post)).status, 200, 'the refusal made it look at the files');
  assert.deepEqual(clients.slice(-2), ['expired', 'valid']);

  const next = await createAuthority({ name: 'two', now, lifetime: DAY });
  const nextServing = await issueServing(next, names);
  server.setSecureContext({
    cert: nextServing.certificatePem,
    key: nextServing.keyPem,
    ca: [authority.certificatePem, next.certificatePem],
  });
  server.closeAllConnections();
  await assert.rejects(
    transport.request({ ...get, timeout: 100 }),
    DeadlineError,
    'an unknown authority is not trusted',
  );
  write('ca', next.certificatePem);
  assert.equal((await transport.request(get)).status, 200);
});

test('a proxy is used for the connection, and the certificate is still that of the server', async (t) => {
  const now = Date.now();
  const authority = await createAuthority({ name: 'ca', now, lifetime: DAY });
  const serving = await issueServing(authority, { hosts: ['127.0.0.1'], now, lifetime: DAY });
  const port = await listen(
    t,
    createHttpsServer({ cert: serving.certificatePem, key: serving.keyPem }, (_request, response) =>
      response.end('{}'),
    ),
  );
  const asked: string[] = [];
  const proxy = createHttpServer();
  proxy.on('connect', (request: IncomingMessage, socket: Socket) => {
    asked.push(request.url ?? '');
    const upstream = connectTcp(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(socket);
      socket.pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  const proxyPort = await listen(t, proxy);
  const transport = new Transport(
    {
      server: `https://127.0.0.1:${port}`,
      namespace: 'd',
      proxyUrl: `http://127.0.0.1:${proxyPort}`,
      identity: () => Promise.resolve({ ca: authority.certificatePem }),
    },
    { rateLimit: false },
  );
  t.after(() => transport.close());
  assert.equal((await transport.request({ ...get, timeout: 60_000 })).status, 200);
  assert.deepEqual(asked, [`127.0.0.1:${port}`]);
});
