/** Port forwarding against a server that implements the protocol. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import { until } from '../../testing/index.ts';
import { createClient } from './client.ts';
import { forwardPort } from './forward-port.ts';

const frame = (channel: number, data: Buffer | string) =>
  Buffer.concat([Buffer.of(channel), Buffer.from(data as string)]);
const head = (port: number) => Buffer.of(port & 255, port >> 8);

/** The node’s side: both channels begin with the port. */
async function serve(t: TestContext, session: (socket: WebSocket, url: URL) => void) {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request: IncomingMessage, socket, upgradeHead) => {
    const url = new URL(request.url ?? '', 'http://x');
    sockets.handleUpgrade(request, socket, upgradeHead, (webSocket) => {
      const port = Number(url.searchParams.get('ports'));
      webSocket.send(frame(0, head(port)));
      webSocket.send(frame(1, head(port)));
      session(webSocket, url);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = createClient({
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    namespace: 'default',
    identity: () => Promise.resolve({}),
  });
  t.after(() => {
    client.close();
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  return client;
}

test('bytes go both ways, the head of a channel is not data, and each connection asks for its pod', async (t) => {
  const paths: string[] = [];
  const client = await serve(t, (socket, url) => {
    paths.push(`${url.pathname}${url.search}`);
    socket.on('message', (data: Buffer) => {
      if (data[0] !== 0) return;
      socket.send(frame(0, data.subarray(1).toString().toUpperCase()));
      socket.close();
    });
  });
  let number = 0;
  await using forwarded = await forwardPort(
    client,
    () => ({ namespace: 'n', name: `p${(number += 1)}` }),
    6820,
  );
  for (const word of ['first', 'second']) {
    const socket = connect(forwarded.port, '127.0.0.1');
    socket.write(word);
    assert.equal(await text(socket), word.toUpperCase());
  }
  assert.deepEqual(paths, [
    '/api/v1/namespaces/n/pods/p1/portforward?ports=6820',
    '/api/v1/namespaces/n/pods/p2/portforward?ports=6820',
  ]);
  assert.equal(forwarded.problem, undefined);
});

test('the error of the node is kept, and the connection is closed', async (t) => {
  const client = await serve(t, (socket) => {
    socket.send(frame(1, 'error forwarding port 1: connection refused'));
    socket.close();
  });
  await using forwarded = await forwardPort(client, { namespace: 'n', name: 'p' }, 1);
  assert.equal(await text(connect(forwarded.port, '127.0.0.1')), '');
  await until('the problem', async () => forwarded.problem !== undefined);
  assert.match(
    forwarded.problem?.message ?? '',
    /forward port 1 of pod p: error forwarding port 1: connection refused/,
  );
});

test('disposing ends every connection on both sides', async (t) => {
  let begun = 0;
  let ended = 0;
  const client = await serve(t, (socket) => {
    begun += 1;
    socket.on('close', () => (ended += 1));
  });
  const forwarded = await forwardPort(client, { namespace: 'n', name: 'p' }, 1);
  const socket = connect(forwarded.port, '127.0.0.1');
  socket.write('x');
  await until('the connection', async () => begun === 1);
  await forwarded[Symbol.asyncDispose]();
  await text(socket).catch(() => '');
  await until('the other side', async () => ended === 1);
});
