/** The channel protocol that exec, attach and port-forward speak over a WebSocket: each message starts with a channel number. */
import type { WebSocket } from 'ws';
import { AbortedError, DeadlineError, RemoteCommandError } from '../errors.ts';
import type { Client } from './client.ts';
import type { CallOptions } from './options.ts';
import { refusal } from './refusal.ts';

export interface Channels {
  /** The subprotocol that the server chose. */
  readonly protocol: string;
  /** False once the other side does not read any more. */
  send(channel: number, data: Buffer): Promise<boolean>;
  /** Says that a channel will carry no more (protocol v5; earlier ones cannot say it). */
  end(channel: number): void;
  close(): void;
  /** Resolves when the connection is over; rejects when it broke or the signal was aborted. */
  readonly closed: Promise<void>;
}

const CLOSE_CHANNEL = 255;

export async function openChannels(
  client: Client,
  path: string,
  options: CallOptions & {
    doing: string;
    protocols: string[];
    onMessage: (channel: number, data: Buffer) => void;
  },
): Promise<Channels> {
  const { WebSocket } = await import('ws');
  const { identity, headers } = await client.transport.headers();
  const { connections } = client.transport;
  const base = client.config.server.replace(/^http/, 'ws');
  const timeout = options.timeout ?? 30_000;
  const socket = new WebSocket(`${base}${path}`, options.protocols, {
    headers,
    agent: connections.agent(identity),
    handshakeTimeout: timeout,
    perMessageDeflate: false,
  });
  const over = Promise.withResolvers<void>();
  // Whoever uses the channels awaits this; until then a rejection must not count as unhandled.
  over.promise.catch(() => undefined);
  const stop = () => {
    over.reject(new AbortedError(`cannot ${options.doing}: given up`, { cause: options.signal?.reason }));
    socket.terminate();
  };
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary && data.length > 0) options.onMessage(data[0] ?? 0, data.subarray(1));
  });
  socket.once('close', () => {
    options.signal?.removeEventListener('abort', stop);
    over.resolve();
  });
  options.signal?.addEventListener('abort', stop, { once: true });
  if (options.signal?.aborted === true) stop();
  await opened(socket, options.doing, timeout, over.promise);
  socket.on('error', (cause) =>
    over.reject(new RemoteCommandError(`cannot ${options.doing}: connection lost`, { cause })),
  );
  return {
    protocol: socket.protocol,
    closed: over.promise,
    send: (channel, data) =>
      new Promise((resolve) => {
        if (socket.readyState !== socket.OPEN) return resolve(false);
        socket.send(Buffer.concat([Buffer.of(channel), data]), (error) =>
          resolve(error === undefined || error === null),
        );
      }),
    end(channel) {
      if (socket.protocol.startsWith('v5.') && socket.readyState === socket.OPEN)
        socket.send(Buffer.of(CLOSE_CHANNEL, channel));
    },
    close: () => socket.close(),
  };
}

function opened(socket: WebSocket, doing: string, timeout: number, over: Promise<void>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  over.catch(reject);
  socket.once('open', resolve);
  socket.once('error', (cause) =>
    reject(
      cause.message.includes('handshake has timed out')
        ? new DeadlineError(`cannot ${doing}: no answer within ${timeout} ms`, { cause })
        : new RemoteCommandError(`cannot ${doing}: no connection`, { cause }),
    ),
  );
  socket.once('unexpected-response', (_request, response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.once('close', () =>
      reject(
        refusal(doing, {
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks),
        }),
      ),
    );
  });
  return promise;
}
