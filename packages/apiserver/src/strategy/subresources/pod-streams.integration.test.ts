/** Logs and streams of a pod go through the server to the agent of its node. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import { callOnce } from '../../../testing/call-once.ts';
import { type ApiServer, startApiServer } from '../../server.ts';

function textOf(data: RawData): string {
  return (data as Buffer).toString('utf8');
}

/** A server with one node whose agent says what it was asked, and echoes on streams. */
async function serverWithAgent(t: TestContext): Promise<ApiServer> {
  const server = await startApiServer();
  t.after(() => server.stop());
  const pair = await server.certificateFor(['127.0.0.1']);
  const agent = createServer({ cert: pair.certificatePem, key: pair.keyPem }, (asked, answer) => {
    if (asked.url?.includes('previous=true')) {
      answer.writeHead(400);
      answer.end('previous terminated container "c" in pod "p" not found\n');
    } else answer.end(`asked for ${asked.url}\n`);
  });
  const sockets = new WebSocketServer({ server: agent, handleProtocols: () => 'v5.channel.k8s.io' });
  sockets.on('connection', (socket, asked) => {
    socket.send(`path ${asked.url}`);
    socket.on('message', (data) => socket.send(`echo ${textOf(data)}`));
  });
  await new Promise<void>((resolve) => agent.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate();
    agent.closeAllConnections();
    agent.close();
  });
  const { port } = agent.address() as AddressInfo;
  await callOnce(server, 'POST', '/api/v1/nodes', {
    metadata: { name: 'n1' },
    status: {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    },
  });
  const pod = (name: string, spec: object) =>
    callOnce(server, 'POST', '/api/v1/namespaces/default/pods', {
      metadata: { name },
      spec: { containers: [{ name: 'c', image: 'i:1' }], ...spec },
    });
  await pod('p', { nodeName: 'n1' });
  await pod('unbound', {});
  await pod('two', { nodeName: 'n1', containers: ['a', 'b'].map((name) => ({ name, image: 'i:1' })) });
  return server;
}

const pods = '/api/v1/namespaces/default/pods';

test('logs come from the node, with the options of the client', async (t) => {
  const server = await serverWithAgent(t);
  const log = await callOnce(server, 'GET', `${pods}/p/log?tailLines=3`);
  assert.deepEqual([log.status, log.text], [200, 'asked for /containerLogs/default/p/c?tailLines=3\n']);
  const unbound = await callOnce(server, 'GET', `${pods}/unbound/log`);
  assert.deepEqual([unbound.status, unbound.text], [200, '']);
  const refused = await callOnce(server, 'GET', `${pods}/p/log?previous=true`);
  assert.equal(refused.status, 400);
  assert.match(refused.text, /previous terminated container/);
  const unclear = await callOnce(server, 'GET', `${pods}/two/log`);
  assert.equal(unclear.status, 400);
  assert.match(unclear.text, /a container name must be specified for pod two, choose one of: \[a b\]/);
  assert.equal((await callOnce(server, 'GET', `${pods}/absent/log`)).status, 404);
});

function open(server: ApiServer, path: string, credentials: object): WebSocket {
  return new WebSocket(`${server.url.replace('https', 'wss')}${path}`, ['v5.channel.k8s.io'], {
    ca: server.caPem,
    ...credentials,
  });
}

test('exec is joined to the node, both ways', async (t) => {
  const server = await serverWithAgent(t);
  const admin = { cert: server.admin.certificatePem, key: server.admin.keyPem };
  const socket = open(server, `${pods}/p/exec?command=id&command=-u&stdout=true`, admin);
  const received: string[] = [];
  const heard = new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('message', (data) => {
      received.push(textOf(data));
      if (received.length === 1) socket.send('hello');
      else resolve();
    });
  });
  await heard;
  socket.terminate();
  assert.deepEqual(received, [
    'path /exec/default/p/c?command=id&command=-u&stdout=true&output=1',
    'echo hello',
  ]);
});

test('exec is refused to those who may not create it, and on a pod without a node', async (t) => {
  const server = await serverWithAgent(t);
  const refusalOf = async (socket: WebSocket) => {
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
    socket.on('error', () => {});
    socket.terminate();
    return response.statusCode;
  };
  assert.equal(await refusalOf(open(server, `${pods}/p/exec?command=id`, {})), 403);
  const admin = { cert: server.admin.certificatePem, key: server.admin.keyPem };
  assert.equal(await refusalOf(open(server, `${pods}/unbound/exec?command=id`, admin)), 400);
  assert.equal(
    (await callOnce(server, 'POST', `${pods}/p/exec?command=id`)).status,
    400,
    'no upgrade, no stream',
  );
});
