/** One watch connection: one event per line of JSON, until the server ends it, it times out, or it is malformed. */
import type { IncomingMessage } from 'node:http';
import { type Clock, systemClock } from '../clock.ts';
import { apiError, ConnectionError, KubeError, MalformedError, type Status } from '../errors.ts';
import type { KubeObject, Live } from '../objects/object.ts';
import { LineSplitter } from '../transport/line-splitter.ts';

export interface WatchEvent<T extends KubeObject = KubeObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: Live<T>;
}

export interface WatchStreamOptions {
  readonly doing: string;
  /** Milliseconds without a byte after which the connection is considered broken. The server sends a bookmark about every minute. */
  readonly idle: number;
  readonly clock?: Clock;
}

/**
 * Reads events until the stream ends. Resolves when the server closes it normally; throws otherwise. An ERROR event is thrown as an
 * {@link apiError}. `onEvent` must not throw.
 */
export function readWatch<T extends KubeObject>(
  message: IncomingMessage,
  options: WatchStreamOptions,
  onEvent: (event: WatchEvent<T>) => void,
): Promise<void> {
  const clock = options.clock ?? systemClock;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const lines = new LineSplitter();
  let heard = clock.monotonic();
  let cancelIdle: () => void = () => undefined;
  let failure: Error | undefined;
  const fail = (error: Error) => {
    failure ??= error;
    message.destroy();
  };
  const watchIdle = () => {
    const left = heard + options.idle - clock.monotonic();
    if (left > 0) cancelIdle = clock.after(left, watchIdle);
    else fail(new ConnectionError(`${options.doing}: no byte for ${options.idle} ms`, { sent: true }));
  };
  const onLine = (line: Buffer) => {
    if (failure !== undefined) return;
    let event: { type?: string; object?: unknown } | null;
    try {
      event = JSON.parse(line.toString('utf8')) as typeof event;
    } catch (cause) {
      fail(new MalformedError(`${options.doing}: a line that is not JSON`, { cause }));
      return;
    }
    if (event?.type === 'ERROR') {
      const body = event.object as Status;
      fail(apiError(options.doing, { status: body?.code ?? 500, body, inWatch: true }));
      return;
    }
    if (!isEvent<T>(event)) {
      fail(new MalformedError(`${options.doing}: an event of unknown type "${String(event?.type)}"`));
      return;
    }
    onEvent(event);
  };
  message.on('data', (chunk: Buffer) => {
    heard = clock.monotonic();
    try {
      lines.push(chunk, onLine);
    } catch (error) {
      fail(error as Error);
    }
  });
  message.on('error', (cause) => {
    failure ??=
      cause instanceof KubeError
        ? cause
        : new ConnectionError(`${options.doing}: connection lost`, { cause, sent: true });
  });
  message.once('close', () => {
    cancelIdle();
    if (failure === undefined && lines.unfinished > 0)
      failure = new MalformedError(`${options.doing}: the stream ended within a line`);
    if (failure === undefined && !message.complete)
      failure = new ConnectionError(`${options.doing}: connection lost`, { sent: true });
    if (failure === undefined) resolve();
    else reject(failure);
  });
  watchIdle();
  return promise;
}

const TYPES: readonly unknown[] = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'];

function isEvent<T extends KubeObject>(
  event: { type?: string; object?: unknown } | null,
): event is WatchEvent<T> {
  const object = event?.object as { metadata?: { resourceVersion?: unknown } } | null | undefined;
  return TYPES.includes(event?.type) && typeof object?.metadata?.resourceVersion === 'string';
}
