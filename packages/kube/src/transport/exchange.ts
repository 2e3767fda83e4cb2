/** One attempt at one request: sends it, waits for the headers, reads the body. No retries here. */
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Clock } from '../clock.ts';
import type { Identity } from '../config/config.ts';
import { AbortedError, ConnectionError, KubeError } from '../errors.ts';
import type { Call } from './call.ts';
import { type Connections, guardNextWrite, onceConnected, type Use } from './connections.ts';
import type { TransportRequest } from './transport.ts';

export interface Exchange {
  readonly request: TransportRequest;
  readonly headers: OutgoingHttpHeaders;
  readonly identity: Identity;
  readonly connections: Connections;
  /** `stream`: its answer may take for ever. */
  readonly use: Use;
  readonly call: Call;
  readonly clock: Clock;
  /** Milliseconds without a byte after which the peer counts as dead; undefined: the deadline alone decides. */
  readonly silence: number | undefined;
}

/** Resolves with the answer when its headers are there. */
export function send(exchange: Exchange): Promise<IncomingMessage> {
  const { request, connections, call } = exchange;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers: OutgoingHttpHeaders = { ...exchange.headers, ...request.headers };
  if (request.body !== undefined) headers['Content-Length'] = Buffer.byteLength(request.body);
  let outgoing: ClientRequest;
  try {
    outgoing = connections.request(
      exchange.identity,
      { method: request.method, path: request.path, headers },
      exchange.use,
    );
  } catch (cause) {
    return Promise.reject(new ConnectionError(`cannot ${request.doing}`, { cause, sent: false }));
  }
  let sent = false;
  const fail = (cause: Error) => {
    quiet.stop();
    call.whenEnded(undefined);
    reject(failure(request, describe(cause), cause, sent));
  };
  // Node tells a request that still waits for a connection of its end only when there is one: that is not waited for.
  const end = (cause: Error) => {
    outgoing.destroy(cause);
    fail(cause);
  };
  const quiet = watchSilence(exchange, () => {
    connections.renew();
    end(new Error('the server is silent'));
  });
  outgoing.once('response', (message) => {
    quiet.stop();
    call.whenEnded(undefined);
    resolve(message);
  });
  outgoing.once('error', fail);
  call.whenEnded(() => end(new AbortedError('aborted')));
  // The guard is asked when the connection stands, and the bytes leave right after it.
  onceConnected(outgoing, connections.url.protocol === 'https:', (socket) => {
    if (request.guard !== undefined) guardNextWrite(socket, request.guard);
    sent = true;
    outgoing.end(request.body);
  });
  return promise;
}

/** The whole body of an answer. */
export function collect(exchange: Exchange, message: IncomingMessage): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  const quiet = watchSilence(exchange, () => message.destroy(new Error('the server is silent')));
  message.on('data', (chunk: Buffer) => {
    quiet.heard();
    chunks.push(chunk);
  });
  message.once('end', () => {
    quiet.stop();
    resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
  });
  message.once('error', (cause) => {
    quiet.stop();
    reject(failure(exchange.request, 'the answer broke off', cause, true));
  });
  exchange.call.whenEnded(() => message.destroy(new AbortedError('aborted')));
  return promise;
}

/** Runs `dead` when nothing is heard for too long. One timer, looked at when it fires, not reset at every byte. */
function watchSilence({ silence, clock }: Exchange, dead: () => void): { heard(): void; stop(): void } {
  if (silence === undefined) return { heard: () => undefined, stop: () => undefined };
  let last = clock.monotonic();
  let cancel: () => void = () => undefined;
  const look = () => {
    const left = last + silence - clock.monotonic();
    if (left <= 0) dead();
    else cancel = clock.after(left, look);
  };
  look();
  return { heard: () => (last = clock.monotonic()), stop: () => cancel() };
}

function failure(request: TransportRequest, why: string, cause: Error, sent: boolean): KubeError {
  if (cause instanceof KubeError) return cause;
  return new ConnectionError(`cannot ${request.doing}: ${why}`, { cause, sent });
}

function describe(cause: Error): string {
  const { code } = cause as NodeJS.ErrnoException;
  return code === undefined || cause.message.includes(code) ? cause.message : `${cause.message} (${code})`;
}
