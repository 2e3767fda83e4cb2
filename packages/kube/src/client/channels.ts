/** The channel protocol of exec over a WebSocket: each message starts with a channel number. */
import type { WebSocket } from 'ws';
import { AbortedError, DeadlineError, RemoteCommandError } from '../errors.ts';
import type { Client } from './client.ts';
import type { CallOptions } from './options.ts';
import { refusal } from './wire.ts';

export interface Channels {
  /** Resolves with false if the server no longer reads. */
  send(channel: number, data: Buffer): Promise<boolean>;
  /** Closes a channel (protocol v5; earlier versions cannot). */
  end(channel: number): void;
  /** Resolves when the connection ends; rejects when it fails, takes too long, or the signal is aborted. */
  readonly closed: Promise<void>;
  /** Ends the connection from this side. */
  close(): void;
}

export interface ChannelOptions extends CallOptions {
  /** The action, for error messages: "cannot <doing>". */
  readonly doing: string;
  readonly protocols: string[];
  /** Maximum duration of the connection in milliseconds. */
  readonly deadline: number;
  /** If it throws, the connection ends with that error. */
  readonly onMessage: (channel: number, data: Buffer) => void;
}

const CLOSE_CHANNEL = 255;

export async function openChannels(client: Client, path: string, options: ChannelOptions): Promise<Channels> {
  const { doing, signal, deadline } = options;
  const { WebSocket } = await import('ws');
  const { identity, headers } = await client.transport.headers();
  const timeout = options.timeout ?? 30_000;
  const socket = new WebSocket(`${client.config.server.replace(/^http/, 'ws')}${path}`, options.protocols, {
    headers,
    agent: client.transport.connections.agent(identity, 'stream'),
    handshakeTimeout: timeout,
    perMessageDeflate: false,
  });
  const opened = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  // Callers await this later; until then a rejection must not count as unhandled.
  over.promise.catch(() => undefined);
  // The first error counts: terminating a socket makes it emit another one.
  const fail = (error: unknown) => {
    finish();
    opened.reject(error);
    over.reject(error);
    socket.terminate();
  };
  const abort = () => fail(new AbortedError(`cannot ${doing}: aborted`, { cause: signal?.reason }));
  const cancel = client.transport.clock.after(deadline, () =>
    fail(new DeadlineError(`cannot ${doing}: not finished within ${deadline} ms`)),
  );
  const finish = () => {
    cancel();
    signal?.removeEventListener('abort', abort);
  };
  socket.once('open', opened.resolve);
  socket.on('message', (data: Buffer, isBinary) => {
    try {
      if (isBinary && data.length > 0) options.onMessage(data[0] ?? 0, data.subarray(1));
    } catch (error) {
      fail(error);
    }
  });
  socket.on('error', (cause) =>
    fail(
      cause.message.includes('handshake has timed out')
        ? new DeadlineError(`cannot ${doing}: no response within ${timeout} ms`, { cause })
        : new RemoteCommandError(`cannot ${doing}: no connection`, { cause }),
    ),
  );
  socket.once('unexpected-response', (_request, response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.once('close', () => {
      const { statusCode: status = 0, headers: answered } = response;
      fail(refusal(doing, { status, headers: answered, body: Buffer.concat(chunks) }));
    });
  });
  socket.once('close', () => {
    finish();
    over.resolve();
  });
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted === true) abort();
  await opened.promise;
  return channelsOf(socket, over.promise);
}

function channelsOf(socket: WebSocket, closed: Promise<void>): Channels {
  return {
    closed,
    send: (channel, data) =>
      new Promise((resolve) => {
        if (socket.readyState !== socket.OPEN) return resolve(false);
        socket.send(Buffer.concat([Buffer.of(channel), data]), (error) =>
          resolve(error === undefined || error === null),
        );
      }),
    close: () => socket.close(),
    end(channel) {
      if (socket.protocol.startsWith('v5.') && socket.readyState === socket.OPEN)
        socket.send(Buffer.of(CLOSE_CHANNEL, channel));
    },
  };
}
