/** The channel protocol that exec speaks over a WebSocket: each message starts with a channel number. */
import type { WebSocket } from 'ws';
import { AbortedError, DeadlineError, RemoteCommandError } from '../errors.ts';
import type { Client } from './client.ts';
import type { CallOptions } from './options.ts';
import { refusal } from './refusal.ts';

export interface Channels {
  /** False once the other side does not read any more. */
  send(channel: number, data: Buffer): Promise<boolean>;
  /** Says that a channel will carry no more (protocol v5; earlier ones cannot say it). */
  end(channel: number): void;
  /** Resolves when the connection is over; rejects when it broke, took too long, or the signal was aborted. */
  readonly closed: Promise<void>;
}

export interface ChannelOptions extends CallOptions {
  /** Finishes "cannot …" in messages. */
  readonly doing: string;
  readonly protocols: string[];
  /** Milliseconds that the connection may last. */
  readonly deadline: number;
  /** What it throws ends the connection. */
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
  // Users of the channels await this; until then a rejection must not count as unhandled.
  over.promise.catch(() => undefined);
  // The first reason counts: ending a socket makes it complain of having been ended.
  const fail = (error: unknown) => {
    finish();
    opened.reject(error);
    over.reject(error);
    socket.terminate();
  };
  const giveUp = () => fail(new AbortedError(`cannot ${doing}: aborted`, { cause: signal?.reason }));
  const cancel = client.transport.clock.after(deadline, () =>
    fail(new DeadlineError(`cannot ${doing}: not over within ${deadline} ms`)),
  );
  const finish = () => {
    cancel();
    signal?.removeEventListener('abort', giveUp);
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
        ? new DeadlineError(`cannot ${doing}: no answer within ${timeout} ms`, { cause })
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
  signal?.addEventListener('abort', giveUp, { once: true });
  if (signal?.aborted === true) giveUp();
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
    end(channel) {
      if (socket.protocol.startsWith('v5.') && socket.readyState === socket.OPEN)
        socket.send(Buffer.of(CLOSE_CHANNEL, channel));
    },
  };
}
