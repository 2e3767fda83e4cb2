/** The forwarder's process, in the sandbox's network namespace. It is told what to do over its IPC channel. */
import { createConnection, type Server, type Socket } from 'node:net';
import type { ForwarderMessage } from './forwarder.ts';

const servers = new Map<number, { readonly server: Server; readonly sockets: Set<Socket> }>();

process.on('message', (message: ForwarderMessage, server: Server) => {
  if (message.kind === 'listen') {
    const sockets = new Set<Socket>();
    server.on('connection', (outside: Socket) => join(outside, message, sockets));
    servers.set(message.id, { server, sockets });
  } else {
    const known = servers.get(message.id);
    servers.delete(message.id);
    known?.server.close();
    for (const socket of known?.sockets ?? []) socket.destroy();
  }
  process.send?.({ id: message.id });
});
process.on('disconnect', () => process.exit(0));

function join(
  outside: Socket,
  to: { readonly address: string; readonly port: number },
  sockets: Set<Socket>,
): void {
  const inside = createConnection({ host: to.address, port: to.port, allowHalfOpen: true });
  outside.allowHalfOpen = true;
  for (const [one, other] of [
    [outside, inside],
    [inside, outside],
  ] as const) {
    sockets.add(one);
    one.setNoDelay(true);
    one.on('error', () => other.destroy());
    one.on('close', () => {
      sockets.delete(one);
      if (one.destroyed && !one.readableEnded) other.destroy();
    });
  }
  outside.pipe(inside);
  inside.pipe(outside);
}
