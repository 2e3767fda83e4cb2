/**
 * Sends events to many browsers. Each event is serialised once, and the same bytes go to every stream. A browser that does
 * not read loses its queue and is told to read everything again, so that slow readers cost no memory.
 */
import type { ServerResponse } from 'node:http';
import type { Clock } from '@slurm-operator/slurm';

export interface EventStreamsOptions {
  readonly clock: Clock;
  /** Default 1 MB: what may wait in the socket of one browser. */
  readonly mostBuffered?: number;
  /** Default 15 s, so that proxies do not end a quiet stream. */
  readonly heartbeatMs?: number;
  /** Default 2,000 streams in all, and 12 of one user. */
  readonly mostStreams?: number;
  readonly mostOfUser?: number;
}

interface Stream {
  readonly response: ServerResponse;
  readonly user: string;
  /** Told to read again, and not caught up yet. */
  behind: boolean;
}

export type Opened = 'opened' | 'too many' | 'too many of user';

const resync = Buffer.from('event: resync\ndata: {}\n\n');
const heartbeat = Buffer.from(': still here\n\n');

export class EventStreams implements Disposable {
  readonly #options: Required<EventStreamsOptions>;
  readonly #streams = new Set<Stream>();
  readonly #byUser = new Map<string, number>();
  #cancel: () => void;

  constructor(options: EventStreamsOptions) {
    this.#options = {
      mostBuffered: 1_000_000,
      heartbeatMs: 15_000,
      mostStreams: 2_000,
      mostOfUser: 12,
      ...options,
    };
    this.#cancel = this.#options.clock.schedule(this.#options.heartbeatMs, () => this.#beat());
  }

  get size(): number {
    return this.#streams.size;
  }

  /** Answers a request with a stream until the browser leaves. `first`: events that only this one gets. */
  open(response: ServerResponse, user: string, first: readonly Buffer[]): Opened {
    if (this.#streams.size >= this.#options.mostStreams) return 'too many';
    const own = this.#byUser.get(user) ?? 0;
    if (own >= this.#options.mostOfUser) return 'too many of user';
    const stream: Stream = { response, user, behind: false };
    this.#streams.add(stream);
    this.#byUser.set(user, own + 1);
    response.once('close', () => this.#forget(stream));
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store',
      // nginx would collect events otherwise.
      'X-Accel-Buffering': 'no',
    });
    for (const event of first) response.write(event);
    return 'opened';
  }

  send(event: Buffer): void {
    for (const stream of this.#streams) this.#write(stream, event);
  }

  /** Ends the streams of a user who logged out. */
  endOf(user: string): void {
    for (const stream of this.#streams) if (stream.user === user) stream.response.end();
  }

  [Symbol.dispose](): void {
    this.#cancel();
    for (const { response } of this.#streams) response.end();
  }

  #write(stream: Stream, event: Buffer): void {
    const { response } = stream;
    const waiting = response.writableLength;
    if (stream.behind) {
      // It reads again: what it missed comes with its next request, new events from here on.
      if (waiting > 0) return;
      stream.behind = false;
    }
    if (waiting + event.length > this.#options.mostBuffered) {
      stream.behind = true;
      response.write(resync);
      return;
    }
    response.write(event);
  }

  #beat(): void {
    for (const { response } of this.#streams) if (response.writableLength === 0) response.write(heartbeat);
    this.#cancel = this.#options.clock.schedule(this.#options.heartbeatMs, () => this.#beat());
  }

  #forget(stream: Stream): void {
    if (!this.#streams.delete(stream)) return;
    const left = (this.#byUser.get(stream.user) ?? 1) - 1;
    if (left > 0) this.#byUser.set(stream.user, left);
    else this.#byUser.delete(stream.user);
  }
}

/** `data` is one line: JSON has no line breaks. */
export function serverEvent(name: string, data: unknown, id?: number): Buffer {
  const number = id === undefined ? '' : `id: ${id}\n`;
  return Buffer.from(`${number}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}
