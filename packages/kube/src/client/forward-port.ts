/** A port of a pod as a port of this machine: one WebSocket for each connection. */
import { createServer, type Server, type Socket } from 'node:net';
import { explain, RemoteCommandError } from '../errors.ts';
import type { ObjectRef } from '../objects/object.ts';
import { pathOf } from '../objects/resource.ts';
import { pods } from '../objects/resources.ts';
import { openChannels } from './channels.ts';
import type { Client } from './client.ts';
import type { CallOptions } from './options.ts';

const DATA = 0;
const ERROR = 1;
const PROTOCOLS = ['v4.channel.k8s.io'];
/** A forwarded connection may be idle or busy for long, but not without a limit. */
const LONGEST = 24 * 3_600_000;
const MOST_ERROR_BYTES = 4096;

export interface ForwardPortOptions extends CallOptions {
  /** @default a free one */
  readonly localPort?: number;
  /** A connection that could not be made or that broke. @default kept for `problem` only */
  readonly onProblem?: (error: Error) => void;
}

export interface ForwardedPort extends AsyncDisposable {
  /** On 127.0.0.1. */
  readonly port: number;
  /** Why the last connection failed, if it did: the local client saw only that it was closed. */
  readonly problem: Error | undefined;
}

/** `pod`: asked for each connection, so that one that was replaced is followed. */
export async function forwardPort(
  client: Client,
  pod: ObjectRef | (() => ObjectRef | Promise<ObjectRef>),
  port: number,
  options: ForwardPortOptions = {},
): Promise<ForwardedPort> {
  const { localPort = 0, signal, timeout, onProblem } = options;
  const ending = new AbortController();
  const sockets = new Set<Socket>();
  let problem: Error | undefined;
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
    const joined = async () =>
      join(client, typeof pod === 'function' ? await pod() : pod, port, socket, {
        signal: ending.signal,
        timeout,
      });
    joined().catch((error: unknown) => {
      if (ending.signal.aborted) return;
      problem = error instanceof Error ? error : new Error(explain(error));
      onProblem?.(problem);
      socket.destroy();
    });
  });
  await listen(server, localPort);
  const address = server.address();
  const close = async () => {
    signal?.removeEventListener('abort', onAbort);
    ending.abort();
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  const onAbort = () => void close();
  signal?.addEventListener('abort', onAbort, { once: true });
  return {
    port: typeof address === 'object' && address !== null ? address.port : localPort,
    get problem() {
      return problem;
    },
    [Symbol.asyncDispose]: close,
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

async function join(
  client: Client,
  pod: ObjectRef,
  port: number,
  socket: Socket,
  options: CallOptions,
): Promise<void> {
  client.assertMayWrite();
  const doing = `forward port ${port} of pod ${pod.name}`;
  const begun = new Set<number>();
  let said = '';
  const path = `${pathOf(pods, { ...pod, subresource: 'portforward' })}?ports=${port}`;
  const channels = await openChannels(client, path, {
    ...options,
    doing,
    protocols: PROTOCOLS,
    deadline: LONGEST,
    onMessage(channel, data) {
      // The first two bytes of each channel repeat the number of the port.
      const content = begun.has(channel) ? data : data.subarray(2);
      begun.add(channel);
      if (channel === DATA) socket.write(content);
      else if (channel === ERROR) said = (said + content.toString('utf8')).slice(0, MOST_ERROR_BYTES);
    },
  });
  socket.on('data', (chunk: Buffer) => {
    socket.pause();
    void channels.send(DATA, chunk).then((sent) => (sent ? socket.resume() : socket.destroy()));
  });
  socket.once('close', () => channels.close());
  socket.once('end', () => channels.close());
  socket.resume();
  await channels.closed;
  socket.end();
  if (said !== '') throw new RemoteCommandError(`cannot ${doing}: ${said}`);
}
