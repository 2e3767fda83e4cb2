/** Between a watch and its socket: gathers what is written in one go, and is where events are dropped, held or torn. */
import type { ServerResponse } from 'node:http';
import { parseExact, stringifyExact } from '../api/json.ts';
import type { StreamSink } from '../resource/answer.ts';
import type { RequestContext } from '../resource/request-context.ts';

/** What happens to the events of a watch just now. */
export type Interference = 'none' | 'drop' | 'hold' | 'coalesce' | 'truncate';

export class WatchPipe implements StreamSink {
  readonly context: RequestContext;
  readonly signal: AbortSignal;
  readonly #abort = new AbortController();
  readonly #response: ServerResponse;
  readonly #interference: () => Interference;
  #held: string[] = [];
  #out: string[] = [];
  #outSize = 0;

  constructor(context: RequestContext, response: ServerResponse, interference: () => Interference) {
    this.context = context;
    this.#response = response;
    this.#interference = interference;
    this.signal = AbortSignal.any([context.signal, this.#abort.signal]);
  }

  get pending(): number {
    return this.#response.writableLength + this.#outSize;
  }

  write(line: string): boolean {
    switch (this.#interference()) {
      case 'drop':
        return true;
      case 'hold':
      case 'coalesce':
        this.#held.push(line);
        return true;
      case 'truncate':
        this.#flush();
        this.#response.write(line.slice(0, Math.ceil(line.length / 2)), () => this.reset());
        return false;
      default:
        this.#push(line);
        return true;
    }
  }

  /** Sends what was held back, whole or with the events of each object made into one. */
  release(coalesced: boolean): void {
    const lines = coalesced ? coalesce(this.#held) : this.#held;
    this.#held = [];
    for (const line of lines) this.#push(line);
  }

  /** Ends the stream as a server does that has had enough of it. */
  end(): void {
    this.#flush();
    this.#abort.abort();
  }

  /** Cuts the connection. */
  reset(): void {
    this.#response.socket?.destroy();
    this.#abort.abort();
  }

  /** The last events go out before the stream ends. */
  finish(): void {
    this.#flush();
  }

  /** Many events of one turn become one write: each costs a TLS record otherwise. */
  #push(line: string): void {
    if (this.#out.length === 0) setImmediate(() => this.#flush());
    this.#out.push(line);
    this.#outSize += line.length;
  }

  #flush(): void {
    if (this.#out.length === 0) return;
    const text = this.#out.join('');
    this.#out = [];
    this.#outSize = 0;
    if (!this.#response.destroyed) this.#response.write(text);
  }
}

interface Line {
  readonly type: string;
  readonly object: { readonly metadata?: { readonly uid?: string } };
}

/** One event per object: its state before the gap, then its current state. */
function coalesce(lines: readonly string[]): string[] {
  const byObject = new Map<string, { first: string; last: Line }>();
  const rest: string[] = [];
  for (const text of lines) {
    const line = parseExact(text) as Line;
    const uid = line.object.metadata?.uid;
    if (uid === undefined) rest.push(text);
    else byObject.set(uid, { first: byObject.get(uid)?.first ?? line.type, last: line });
  }
  const merged = [...byObject.values()].flatMap(({ first, last }) => {
    if (first === 'ADDED' && last.type === 'DELETED') return [];
    const type = last.type === 'DELETED' || first !== 'ADDED' ? last.type : 'ADDED';
    return [`${stringifyExact({ type, object: last.object })}\n`];
  });
  return [...merged, ...rest];
}
