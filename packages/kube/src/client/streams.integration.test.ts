/** exec and logs against a server that implements their protocols. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import { AbortedError, DeadlineError, ForbiddenError, NotFoundError, RemoteCommandError } from '../errors.ts';
import { createClient } from './client.ts';
import { exec } from './exec.ts';
import { podLog, podLogStream } from './pod-log.ts';

const POD = { namespace: 'n', name: 'p' };

async function serve(t: TestContext, session: (socket: WebSocket, url: URL) => void) {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://x');
    if (url.pathname.endsWith('/log')) response.end(`tail ${url.searchParams.get('tailLines') ?? 'all'}\n`);
    // Sends an error status and part of the body, then stalls.
    else if (url.pathname.endsWith('/silent')) response.writeHead(404).write('not he');
    else if (url.pathname.endsWith('/broken'))
      response.writeHead(404).write('not he', () => response.socket?.resetAndDestroy());
    else
      response
        .writeHead(403, { 'Content-Type': 'application/json' })
        .end(JSON.stringify({ kind: 'Status', code: 403, reason: 'Forbidden', message: 'no exec for you' }));
  });
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) =>
      [...offered].find((name) => name.startsWith('v5')) ?? [...offered][0] ?? false,
  });
  server.on('upgrade', (request: IncomingMessage, socket, head) => {
    const url = new URL(request.url ?? '', 'http://x');
    if (url.pathname.includes('/forbidden/')) {
      const body = JSON.stringify({
        kind: 'Status',
        code: 403,
        reason: 'Forbidden',
        message: 'no exec for you',
      });
      socket.end(
        `HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => session(webSocket, url));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  const client = createClient({
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    namespace: 'default',
    identity: () => Promise.resolve({}),
  });
  t.after(() => client.close());
  return client;
}

const frame = (channel: number, data: string | object) =>
  Buffer.concat([Buffer.of(channel), Buffer.from(typeof data === 'string' ? data : JSON.stringify(data))]);

test('a command receives stdin and returns stdout, stderr and the exit code', async (t) => {
  const client = await serve(t, (socket, url) => {
    const input: string[] = [];
    socket.on('message', (data: Buffer) => {
      if (data[0] === 0) input.push(data.subarray(1).toString());
      if (data[0] !== 255) return;
      assert.equal(data[1], 0, 'the end of stdin');
      socket.send(frame(1, `${url.searchParams.getAll('command').join(' ')}: `));
      socket.send(frame(1, input.join('')));
      socket.send(frame(2, 'careful'));
      socket.send(
        frame(3, {
          status: 'Failure',
          reason: 'NonZeroExitCode',
          details: { causes: [{ reason: 'ExitCode', message: '3' }] },
        }),
      );
      socket.close();
    });
  });
  const result = await exec(client, POD, ['wc', '-l'], {
    container: 'c',
    stdin: Readable.from(['a\n', 'b\n']),
  });
  assert.deepEqual(result, { exitCode: 3, stdout: 'wc -l: a\nb\n', stderr: 'careful' });
});

test('writes output to a stream', async (t) => {
  const client = await serve(t, (socket) => {
    socket.send(frame(1, 'hello'));
    socket.send(frame(3, { status: 'Success' }));
    socket.close();
  });
  const chunks: string[] = [];
  const stdout = new Writable({
    write(chunk: Buffer, _encoding, next) {
      chunks.push(chunk.toString());
      next();
    },
  });
  assert.deepEqual(await exec(client, POD, ['ls'], { stdout }), { exitCode: 0, stdout: '', stderr: '' });
  assert.deepEqual(chunks, ['hello']);
});

test('distinguishes an error response, a broken connection and an abort', async (t) => {
  const caller = new AbortController();
  const client = await serve(t, (socket, url) => {
    if (url.searchParams.get('command') === 'break') socket.terminate();
    else caller.abort();
  });
  await assert.rejects(exec(client, { namespace: 'n', name: 'forbidden' }, ['ls']), ForbiddenError);
  await assert.rejects(exec(client, POD, ['break']), RemoteCommandError);
  await assert.rejects(
    exec(client, POD, ['sleep'], { signal: caller.signal }),
    AbortedError,
    'while it runs',
  );
  await assert.rejects(
    exec(client, POD, ['sleep'], { signal: caller.signal }),
    AbortedError,
    'before it began',
  );
});

test('exec calls the guard: a replica that is not the leader runs no commands', async (t) => {
  const client = (await serve(t, () => assert.fail('connected'))).guarded(() => {
    throw new Error('not leading');
  });
  await assert.rejects(exec(client, POD, ['ls']), /not leading/);
});

test('aborts a command that exceeds its deadline or the output limit', async (t) => {
  const client = await serve(t, (socket, url) => {
    if (url.searchParams.get('command') === 'talk')
      for (let i = 0; i < 12; i += 1) socket.send(frame(1, 'x'.repeat(1 << 20)));
  });
  await assert.rejects(exec(client, POD, ['sleep'], { deadline: 50 }), DeadlineError);
  await assert.rejects(exec(client, POD, ['talk']), /more than 10485760 bytes of output; pass a stream/);
});

test('logs are a string or a stream', async (t) => {
  const client = await serve(t, () => undefined);
  assert.equal(await podLog(client, POD, { tailLines: 5 }), 'tail 5\n');
  let text = '';
  for await (const chunk of await podLogStream(client, POD)) text += (chunk as Buffer).toString();
  assert.equal(text, 'tail all\n');
  await assert.rejects(client.open('/elsewhere', { doing: 'look' }), ForbiddenError);
  await assert.rejects(client.open('/broken', { doing: 'look' }), NotFoundError);
  await assert.rejects(
    client.open('/silent', { doing: 'look' }),
    NotFoundError,
    'not waited for beyond seconds',
  );
});
