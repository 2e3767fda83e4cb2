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
  /** `stream`: the response has no time limit. */
  readonly use: Use;
  readonly call: Call;
  readonly clock: Clock;
  /** Milliseconds without a byte after which the connection is considered broken; undefined: only the deadline applies. */
  readonly silence: number | undefined;
}

/** Resolves with the response when its headers have arrived. */
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
  // Node reports the end of a request that waits for a connection only when it gets one, so fail at once.
  const end = (cause: Error) => {
    outgoing.destroy(cause);
    fail(cause);
  };
  const quiet = watchSilence(exchange, () => {
    connections.renew();
    end(new Error('the server sent no data'));
  });
  outgoing.once('response', (message) => {
    quiet.stop();
    call.whenEnded(undefined);
    resolve(message);
  });
  outgoing.once('error', fail);
  call.whenEnded(() => end(new AbortedError('aborted')));
  // The guard is called when the connection is established, right before the bytes are sent.
  onceConnected(outgoing, connections.url.protocol === 'https:', (socket) => {
    if (request.guard !== undefined) guardNextWrite(socket, request.guard);
    sent = true;
    outgoing.end(request.body);
  });
  return promise;
}

/** The whole body of a response. */
export function collect(exchange: Exchange, message: IncomingMessage): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  const quiet = watchSilence(exchange, () => message.destroy(new Error('the server sent no data')));
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
    reject(failure(exchange.request, 'the connection broke during the response', cause, true));
  });
  exchange.call.whenEnded(() => message.destroy(new AbortedError('aborted')));
  return promise;
}

/** Calls `dead` after too long without data. One timer that checks when it fires, instead of a reset at every byte. */
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
