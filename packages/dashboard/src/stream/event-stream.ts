/**
 * Sends events to many browsers. Each event is serialised once, and the same bytes go to every stream. A browser that does
 * not read loses its queue and is told to read everything again, so that slow readers cost no memory.
 */
import type { ServerResponse } from 'node:http';
import type { Clock } from '@slurm-operator/slurm';
import type { StreamOwner } from '../identity/sessions.ts';

export interface EventStreamsOptions {
  readonly clock: Clock;
  /** Default 1 MB: what may wait in the socket of one browser. */
  readonly mostBuffered?: number;
  /** Default 15 s: proxies do not end a quiet stream, and a browser notices that nothing comes any more. */
  readonly heartbeatMs?: number;
  /** What every stream gets then. Default a comment. */
  readonly heartbeat?: () => Buffer;
  /** Default 2,000 streams in all, and 12 of one user. */
  readonly mostStreams?: number;
  readonly mostOfUser?: number;
}

interface Stream extends StreamOwner {
  readonly response: ServerResponse;
  /** Told to read again, and not caught up yet. */
  behind: boolean;
}

export type Opened = 'opened' | 'too many' | 'too many of user';

const resync = Buffer.from('event: resync\ndata: {}\n\n');
const stillHere = Buffer.from(': still here\n\n');
/** About a minute. */
const beatsBetweenChecks = 4;

export class EventStreams implements Disposable {
  readonly #options: Required<EventStreamsOptions>;
  readonly #streams = new Set<Stream>();
  readonly #byUser = new Map<string, number>();
  #cancel: () => void;
  #beats = 0;
  #isChecking = false;

  constructor(options: EventStreamsOptions) {
    this.#options = {
      mostBuffered: 1_000_000,
      heartbeatMs: 15_000,
      heartbeat: () => stillHere,
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
  open(response: ServerResponse, owner: StreamOwner, first: readonly Buffer[]): Opened {
    // It left before it was known whether it may have a stream: its `close` has been announced already.
    if (response.destroyed) return 'opened';
    const { user } = owner;
    if (this.#streams.size >= this.#options.mostStreams) return 'too many';
    const own = this.#byUser.get(user) ?? 0;
    if (own >= this.#options.mostOfUser) return 'too many of user';
    const stream: Stream = { ...owner, response, behind: false };
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
    const { clock, heartbeat, heartbeatMs } = this.#options;
    const now = clock.now();
    const event = this.#streams.size === 0 ? undefined : heartbeat();
    for (const { response, expiresAt = Number.POSITIVE_INFINITY } of this.#streams) {
      if (expiresAt <= now) response.end();
      else if (event !== undefined && response.writableLength === 0) response.write(event);
    }
    this.#beats += 1;
    if (this.#beats % beatsBetweenChecks === 0) void this.#check();
    this.#cancel = clock.schedule(heartbeatMs, () => this.#beat());
  }

  /** One after the other, so that hundreds of streams are no burst of questions. */
  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    for (const { response, mayGoOn } of this.#streams) {
      if (mayGoOn === undefined || response.writableEnded) continue;
      // Not known is not refused: the stream ends with its session at the latest.
      const goesOn = await mayGoOn().catch(() => true);
      if (!goesOn) response.end();
    }
    this.#isChecking = false;
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
