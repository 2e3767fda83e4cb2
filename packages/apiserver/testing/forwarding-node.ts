/** A node whose pods are ports of this machine: for tests of port forwarding without containers. */
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ApiServer } from '../src/server.ts';
import { callOnce } from './call-once.ts';

export interface ForwardingNode extends AsyncDisposable {
  readonly name: string;
}

const dataChannel = 0;
const errorChannel = 1;

/** `portOf`: which port of this machine stands for a port of a pod. */
export async function startForwardingNode(
  server: ApiServer,
  portOf: (pod: string, port: number) => number | undefined,
): Promise<ForwardingNode> {
  const name = 'forwarding';
  const pair = await server.certificateFor(['127.0.0.1']);
  const agent = createServer({ cert: pair.certificatePem, key: pair.keyPem });
  const sockets = new WebSocketServer({ server: agent, handleProtocols: () => 'v4.channel.k8s.io' });
  sockets.on('connection', (socket, request) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'https://node');
    const port = Number(searchParams.get('ports'));
    forward(socket, port, portOf(pathname.split('/').at(-1) ?? '', port));
  });
  await new Promise<void>((resolve) => agent.listen(0, '127.0.0.1', resolve));
  await callOnce(server, 'POST', '/api/v1/nodes', {
    metadata: { name },
    status: {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: (agent.address() as AddressInfo).port } },
    },
  });
  return {
    name,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.clients) socket.terminate();
      agent.closeAllConnections();
      await new Promise<void>((resolve) => agent.close(() => resolve()));
    },
  };
}

function forward(socket: WebSocket, port: number, target: number | undefined): void {
  // Each channel begins with the number of its port.
  for (const channel of [dataChannel, errorChannel])
    socket.send(Buffer.from([channel, port & 0xff, port >> 8]));
  const fail = (why: string) => {
    socket.send(Buffer.concat([Buffer.of(errorChannel), Buffer.from(why)]));
    socket.close();
  };
  if (target === undefined) return fail('the pod does not run');
  const inner = connect(target, '127.0.0.1');
  inner.on('data', (chunk) => socket.send(Buffer.concat([Buffer.of(dataChannel), chunk])));
  inner.once('error', (error) => fail(error.message));
  inner.once('close', () => socket.close());
  socket.on('message', (data: Buffer) => inner.write(data.subarray(1)));
  socket.once('close', () => inner.destroy());
}
