/** exec, attach, port-forward and logs against a server that speaks their protocols. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import { AbortedError, ForbiddenError, RemoteCommandError } from '../errors.ts';
import { createClient } from './client.ts';
import { attach, exec } from './exec.ts';
import { podLog, podLogStream } from './pod-log.ts';
import { portForward } from './port-forward.ts';

const POD = { namespace: 'n', name: 'p' };

async function serve(t: TestContext, session: (socket: WebSocket, url: URL) => void) {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://x');
    if (url.pathname.endsWith('/log')) response.end(`tail ${url.searchParams.get('tailLines') ?? 'all'}\n`);
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

test('a command gets its input and gives back output, errors and exit code', async (t) => {
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

test('output may go to a stream; attach ends when the container does', async (t) => {
  const client = await serve(t, (socket, url) => {
    assert.ok(url.pathname.endsWith('/attach'));
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
  assert.deepEqual(await attach(client, POD, { stdout }), { exitCode: 0, stdout: '', stderr: '' });
  assert.deepEqual(chunks, ['hello']);
});

test('a refusal, a broken connection and a caller that gives up are told apart', async (t) => {
  const client = await serve(t, (socket, url) => {
    if (url.searchParams.get('command') === 'break') socket.terminate();
  });
  await assert.rejects(exec(client, { namespace: 'n', name: 'forbidden' }, ['ls']), ForbiddenError);
  await assert.rejects(exec(client, POD, ['break']), RemoteCommandError);
  const caller = new AbortController();
  const waiting = exec(client, POD, ['sleep'], { signal: caller.signal });
  setTimeout(() => caller.abort(), 20);
  await assert.rejects(waiting, AbortedError);
});

test('exec asks the guard: a replica that does not lead runs no commands', async (t) => {
  const client = (await serve(t, () => assert.fail('connected'))).guarded(() => {
    throw new Error('not leading');
  });
  await assert.rejects(exec(client, POD, ['ls']), /not leading/);
});

test('a forwarded port is a stream in both directions', async (t) => {
  const client = await serve(t, (socket, url) => {
    assert.equal(url.searchParams.get('ports'), '8080');
    for (const channel of [0, 1]) socket.send(Buffer.of(channel, 0x90, 0x1f));
    socket.on('message', (data: Buffer) => {
      socket.send(Buffer.concat([Buffer.of(0), Buffer.from(`echo ${data.subarray(1).toString()}`)]));
      socket.close();
    });
  });
  const stream = await portForward(client, POD, 8080);
  stream.write('ping');
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  assert.equal(Buffer.concat(chunks).toString(), 'echo ping');
});

test('logs are text, whole or as they come', async (t) => {
  const client = await serve(t, () => undefined);
  assert.equal(await podLog(client, POD, { tailLines: 5 }), 'tail 5\n');
  let text = '';
  for await (const chunk of await podLogStream(client, POD)) text += (chunk as Buffer).toString();
  assert.equal(text, 'tail all\n');
  await assert.rejects(client.open('/elsewhere', { doing: 'look' }), ForbiddenError);
});
