/**
 * Runs one reconciler with N workers. Reconciles are level-based: the reconciler receives which object to reconcile, never what happened
 * to it, and must be idempotent.
 */
import { type Clock, systemClock } from '../clock.ts';
import { DeadlineError, explain, NotLeaderError, TerminalError } from '../errors.ts';
import { type Log, silent } from '../log.ts';
import { type ObjectKey, type ObjectRef, refOf } from '../objects/object.ts';
import { Queue, type QueueObserver, type QueueOptions } from '../queue/queue.ts';
import type { Source } from './source.ts';

export interface Request extends ObjectRef {
  readonly key: ObjectKey;
}

export interface ReconcileContext {
  /** Aborted at the deadline and when the grace period of the shutdown is over. Pass it to every call. */
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly clock: Clock;
}

/** Reconcile again after `requeueAfter` milliseconds, even if nothing changes. */
export interface Result {
  readonly requeueAfter: number;
}

/**
 * Returns nothing (done until something changes) or a {@link Result}. Throws to be retried with growing delays, or throws a
 * {@link TerminalError} if a retry is pointless until the object changes.
 */
export type Reconciler = (request: Request, context: ReconcileContext) => Promise<Result | void>;

export interface ControllerOptions {
  /** Maximum number of concurrent reconciles. @default 4 */
  readonly workers?: number;
  /** Maximum duration of one reconcile in milliseconds. @default 120_000 */
  readonly deadline?: number;
  readonly backoff?: QueueOptions['backoff'];
}

export type ReconcileOutcome = 'success' | 'requeue_after' | 'error' | 'terminal';

/** Callbacks for metrics. */
export interface ControllerObserver {
  readonly queue?: QueueObserver;
  workers(count: number): void;
  active(count: number): void;
  /** Number of reconciles that are still running after they were aborted. */
  overdue(count: number): void;
  reconciled(outcome: ReconcileOutcome, seconds: number): void;
}

/**
 * Milliseconds after which the worker of an aborted reconcile takes another key. The key of the aborted reconcile stays locked until it
 * ends: two concurrent reconciles of one object would undo each other.
 */
const LINGER = 5_000;

/** A running reconcile: `lingering` settles when it has ended. */
interface Run {
  lingering: Promise<void> | undefined;
}

export class Controller {
  readonly name: string;
  readonly queue: Queue;
  readonly #reconciler: Reconciler;
  readonly #sources: readonly Source[];
  readonly #options: ControllerOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #observer: ControllerObserver | undefined;
  #active = 0;
  /** Keys whose reconcile is still running after it was aborted, and since when. */
  readonly #overdue = new Map<ObjectKey, number>();

  constructor(
    name: string,
    reconciler: Reconciler,
    sources: readonly Source[],
    options: ControllerOptions = {},
    environment: { clock?: Clock; log?: Log; observer?: ControllerObserver | undefined } = {},
  ) {
    this.name = name;
    this.#reconciler = reconciler;
    this.#sources = sources;
    this.#options = options;
    this.#clock = environment.clock ?? systemClock;
    this.#log = (environment.log ?? silent).child({ controller: name });
    this.#observer = environment.observer;
    this.queue = new Queue({
      clock: this.#clock,
      observer: this.#observer?.queue,
      ...(options.backoff === undefined ? {} : { backoff: options.backoff }),
    });
  }

  /** Milliseconds for which the longest overdue reconcile has been running after it was aborted. */
  get longestOverdue(): number {
    const now = this.#clock.monotonic();
    return Math.max(0, ...[...this.#overdue.values()].map((since) => now - since));
  }

  /**
   * Runs until `stop` is aborted, then finishes queued and running reconciles. `kill` aborts running reconciles.
   */
  async run(stop: AbortSignal, kill: AbortSignal = stop): Promise<void> {
    const workers = this.#options.workers ?? 4;
    this.#observer?.workers(workers);
    const close = () => this.queue.close();
    const clear = () => this.queue.clear();
    stop.addEventListener('abort', close, { once: true });
    kill.addEventListener('abort', clear, { once: true });
    if (stop.aborted) close();
    const enqueue = (key: ObjectKey, delay = 0) => this.queue.addAfter(key, delay);
    // A source may run as long as the controller; if one fails, the controller fails.
    const sources = this.#sources.map(async (source) => source.start(enqueue, stop));
    await Promise.all([...sources, ...Array.from({ length: workers }, () => this.#work(kill))]);
    kill.removeEventListener('abort', clear);
  }

  async #work(kill: AbortSignal): Promise<void> {
    for (let key = await this.queue.get(); key !== undefined; key = await this.queue.get()) {
      this.#observer?.active((this.#active += 1));
      let run: Run | undefined;
      try {
        run = await this.#reconcile(key, kill);
      } finally {
        this.#observer?.active((this.#active -= 1));
        if (run?.lingering === undefined) this.queue.done(key);
        else void this.#leave(key, run.lingering);
      }
    }
  }

  /** Keeps the key locked until its reconcile has ended. */
  async #leave(key: ObjectKey, lingering: Promise<void>): Promise<void> {
    const log = this.#log.child({ key });
    const since = this.#clock.monotonic();
    this.#overdue.set(key, since);
    this.#observer?.overdue(this.#overdue.size);
    log.error({}, 'reconcile did not stop after its deadline; its object is not reconciled until it does');
    await lingering;
    this.#overdue.delete(key);
    this.#observer?.overdue(this.#overdue.size);
    log.warn({ overdueMs: Math.round(this.#clock.monotonic() - since) }, 'overdue reconcile ended');
    this.queue.done(key);
  }

  async #reconcile(key: ObjectKey, kill: AbortSignal): Promise<Run> {
    const log = this.#log.child({ key });
    const began = this.#clock.monotonic();
    let outcome: ReconcileOutcome = 'success';
    const run: Run = { lingering: undefined };
    try {
      const result = await this.#bounded(key, kill, log, run);
      this.queue.forget(key);
      if (result !== undefined) {
        const { requeueAfter } = result;
        // 0 would be a hot loop, and other runtimes read it as "never".
        if (!(requeueAfter > 0))
          throw new RangeError(`requeueAfter is ${requeueAfter}; it must be greater than 0 milliseconds`);
        outcome = 'requeue_after';
        this.queue.addAfter(key, requeueAfter);
      }
    } catch (error) {
      outcome = this.#failed(key, error, log);
    }
    const took = this.#clock.monotonic() - began;
    log.debug({ outcome, tookMs: Math.round(took) }, 'reconciled');
    this.#observer?.reconciled(outcome, took / 1000);
    return run;
  }

  #failed(key: ObjectKey, error: unknown, log: Log): ReconcileOutcome {
    if (error instanceof TerminalError) {
      this.queue.forget(key);
      log.error(
        { reason: explain(error) },
        'reconcile failed with a terminal error; no retry until the object changes',
      );
      return 'terminal';
    }
    const delay = this.queue.addRateLimited(key);
    const fields = {
      reason: explain(error),
      retryInMs: Math.round(delay),
      failures: this.queue.failures(key),
    };
    if (error instanceof NotLeaderError) log.info(fields, 'not the leader; nothing was written');
    else log.error({ ...fields, err: error }, 'reconcile failed');
    return 'error';
  }

  /** Runs the reconciler with a deadline. If it ignores its signal, the worker stops waiting for it. */
  async #bounded(key: ObjectKey, kill: AbortSignal, log: Log, run: Run): Promise<Result | void> {
    const deadline = this.#options.deadline ?? 120_000;
    const ending = new AbortController();
    const abandoned = Promise.withResolvers<never>();
    const expire = (reason: unknown) => {
      ending.abort(reason);
      cancel();
      cancel = this.#clock.after(LINGER, () => abandoned.reject(reason));
    };
    let cancel = this.#clock.after(deadline, () =>
      expire(new DeadlineError(`reconcile took longer than ${deadline} ms`)),
    );
    const stop = () => expire(kill.reason);
    kill.addEventListener('abort', stop, { once: true });
    if (kill.aborted) stop();
    try {
      const request = { ...refOf(key), key };
      const work = this.#reconciler(request, { signal: ending.signal, log, clock: this.#clock });
      const over = () => void (run.lingering = undefined);
      run.lingering = work.then(over, over);
      return await Promise.race([work, abandoned.promise]);
    } finally {
      cancel();
      kill.removeEventListener('abort', stop);
    }
  }
}
