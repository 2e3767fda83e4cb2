/**
 * The switchboard: what goes wrong between a client and a real API server, on demand. Each fault answers a function that
 * heals it; several may be on at once. Stopping and restarting the whole server are methods of the server itself.
 */
import type { ServerResponse } from 'node:http';
import { ApiError } from '../api/errors.ts';
import type { StreamSink } from '../resource/answer.ts';
import type { RequestContext } from '../resource/request-context.ts';
import type { Store, StoreSnapshot } from '../store/store.ts';
import { concerns, type FaultScope } from './fault-scope.ts';
import { type Interference, WatchPipe } from './watch-pipe.ts';

/** Takes the fault away again; harmless when called twice. */
export type Heal = () => void;

type Act = (context: RequestContext, response: ServerResponse) => Promise<void> | void;

interface Fault {
  readonly scope: FaultScope;
  left: number;
  /** Before the request is looked at; may wait, or throw the answer. */
  readonly before?: Act;
  /** The answer is never sent: the work is done, but the client does not hear of it. */
  readonly losesAnswer?: boolean;
  readonly interference?: Interference;
}

export interface FaultParts {
  readonly store: Store;
  /** Resets every open connection. */
  readonly cut: () => void;
}

export class Faults {
  readonly #parts: FaultParts;
  readonly #faults = new Set<Fault>();
  readonly #watches = new Set<WatchPipe>();

  constructor(parts: FaultParts) {
    this.#parts = parts;
  }

  /** Requests get no answer until healed. */
  pause(scope: FaultScope = {}): Heal {
    const { promise, resolve } = Promise.withResolvers<void>();
    const heal = this.#add({ scope, before: ({ signal }) => Promise.race([promise, aborted(signal)]) });
    return () => {
      heal();
      resolve();
    };
  }

  /** Requests wait that long before they are looked at. */
  delay(milliseconds: number, scope: FaultScope = {}): Heal {
    return this.#add({ scope, before: ({ signal }) => wait(milliseconds, signal) });
  }

  /** Requests are answered with 429 or 503 (or another code), and told when to come back. */
  refuse(
    { status = 503, retryAfterSeconds = 1 }: { status?: number; retryAfterSeconds?: number },
    scope: FaultScope = {},
  ): Heal {
    return this.#add({
      scope,
      before: () => {
        throw refusal(status, retryAfterSeconds);
      },
    });
  }

  /** Connections break instead of an answer; the request was not looked at. */
  reset(scope: FaultScope = {}): Heal {
    return this.#add({ scope, before: (_context, response) => void response.socket?.destroy() });
  }

  /** The request is carried out, and then the connection breaks: a client cannot know. */
  loseAnswers(scope: FaultScope = {}): Heal {
    return this.#add({ scope, losesAnswer: true });
  }

  /** Lists and gets are answered from an older state, as by a server that lags behind. */
  stale(revision: number, scope: FaultScope = {}): Heal {
    return this.#add({
      scope,
      before: (context) => {
        if (['get', 'list'].includes(context.info.verb)) context.readAt = revision;
      },
    });
  }

  /** Streaming lists begin with 200 and end with an ERROR event of code 500, as with an etcd before 3.4.25. */
  oldEtcd(scope: FaultScope = {}): Heal {
    return this.#add({
      scope: { ...scope, verb: 'watch' },
      before: (context) => {
        context.refusesInitialEvents = true;
      },
    });
  }

  /** Lists are refused with 429 and watches get it as their first event, as while a server still fills its watch cache. */
  emptyWatchCache(scope: FaultScope = {}): Heal {
    return this.#add({
      scope,
      before: (context) => {
        const refused = refusal(429, 1, 'storage is (re)initializing');
        if (context.info.verb === 'list') throw refused;
        if (context.info.verb === 'watch') context.watchFault = refused;
      },
    });
  }

  /** Events of watches vanish: what was missed is never told. */
  dropEvents(scope: FaultScope = {}): Heal {
    return this.#interfere('drop', scope);
  }

  /** Events are held back until healed; then all come. */
  holdEvents(scope: FaultScope = {}): Heal {
    return this.#interfere('hold', scope);
  }

  /** Events are held back until healed; then one comes per object. */
  coalesceEvents(scope: FaultScope = {}): Heal {
    return this.#interfere('coalesce', scope);
  }

  /** The next event of a watch stops in the middle of its line, and the connection breaks. */
  truncateEvents(scope: FaultScope = {}): Heal {
    return this.#interfere('truncate', scope);
  }

  /** Ends open watches now; answers how many. */
  cutWatches(scope: FaultScope = {}, how: 'reset' | 'end' = 'reset'): number {
    const chosen = [...this.#watches].filter(({ context }) => concerns(scope, context));
    for (const watch of chosen) watch[how]();
    return chosen.length;
  }

  /** Open watches. */
  get watches(): number {
    return this.#watches.size;
  }

  /** Resets every open connection now. */
  cutConnections(): void {
    this.#parts.cut();
  }

  /** Forgets the history up to a resourceVersion (all of it by default): watches that resume from before get 410. */
  compact(revision?: number): void {
    this.#parts.store.compact(revision);
  }

  /** Puts an older state back, as restoring a backup of etcd does; resourceVersions go back with it. */
  restore(snapshot: StoreSnapshot): void {
    this.#parts.store.restore(snapshot);
    this.#parts.cut();
  }

  /** Heals everything. */
  heal(): void {
    for (const fault of this.#faults) this.#remove(fault);
  }

  /** Applies the faults to a request: may wait, or throw the response; false if the client is gone. */
  async before(context: RequestContext, response: ServerResponse): Promise<boolean> {
    for (const fault of this.#faults)
      if (fault.before !== undefined && concerns(fault.scope, context)) {
        this.#count(fault);
        await fault.before(context, response);
        if (context.signal.aborted || response.socket?.destroyed !== false) return false;
      }
    return true;
  }

  /** Whether the answer to this request gets lost. */
  losesAnswer(context: RequestContext): boolean {
    const fault = [...this.#faults].find((one) => one.losesAnswer === true && concerns(one.scope, context));
    if (fault !== undefined) this.#count(fault);
    return fault !== undefined;
  }

  /** Runs a watch through a pipe that the switchboard has its hands on. */
  async watching(
    context: RequestContext,
    response: ServerResponse,
    run: (sink: StreamSink) => Promise<void>,
  ): Promise<void> {
    const pipe = new WatchPipe(context, response, () => this.#interferenceOf(context));
    this.#watches.add(pipe);
    try {
      await run(pipe);
      pipe.finish();
    } finally {
      this.#watches.delete(pipe);
    }
  }

  #interferenceOf(context: RequestContext): Interference {
    for (const fault of this.#faults)
      if (fault.interference !== undefined && concerns(fault.scope, context)) {
        if (fault.interference === 'truncate') this.#count(fault);
        return fault.interference;
      }
    return 'none';
  }

  #interfere(interference: Interference, scope: FaultScope): Heal {
    return this.#add({ scope, interference });
  }

  #add(fault: Omit<Fault, 'left'>): Heal {
    const added: Fault = { ...fault, left: fault.scope.times ?? Number.POSITIVE_INFINITY };
    this.#faults.add(added);
    return () => this.#remove(added);
  }

  #count(fault: Fault): void {
    fault.left -= 1;
    if (fault.left <= 0) this.#remove(fault);
  }

  #remove(fault: Fault): void {
    if (!this.#faults.delete(fault)) return;
    if (fault.interference !== 'hold' && fault.interference !== 'coalesce') return;
    for (const watch of this.#watches)
      if (concerns(fault.scope, watch.context)) watch.release(fault.interference === 'coalesce');
  }
}

function refusal(status: number, retryAfterSeconds: number, text?: string): ApiError {
  const words: Readonly<Record<number, readonly [string, string]>> = {
    429: ['TooManyRequests', 'the server has received too many requests and has asked us to try again later'],
    503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  };
  const [reason, message] = words[status] ?? ['InternalError', `a fault that was asked for: ${status}`];
  return new ApiError(status, reason, text ?? message, {
    details: { retryAfterSeconds },
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });
}

function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  return Promise.race([promise, aborted(signal)]).finally(() => clearTimeout(timer));
}

/** Resolves when the client disconnects, so that nothing waits for it. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
