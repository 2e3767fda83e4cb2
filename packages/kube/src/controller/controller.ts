/**
 * Runs one reconciler on N workers. The contract with it is level-based: it is told which object to look at, never what
 * happened to it, so it must read the present state and make it so, as often as it is asked.
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
  /** Aborted at the deadline and when the program stops waiting: pass it to every call. */
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly clock: Clock;
}

/** Look again after so many milliseconds, even if nothing changes. */
export interface Result {
  readonly requeueAfter: number;
}

/**
 * Returns nothing (done until something changes) or a {@link Result}. Throws to be called again with growing delays, or a
 * {@link TerminalError} when only a change of the object can help.
 */
export type Reconciler = (request: Request, context: ReconcileContext) => Promise<Result | void>;

export interface ControllerOptions {
  /** Objects reconciled at the same time. @default 4 */
  readonly workers?: number;
  /** Milliseconds one reconcile may take. @default 120_000 */
  readonly deadline?: number;
  readonly backoff?: QueueOptions['backoff'];
}

export type ReconcileOutcome = 'success' | 'requeue_after' | 'error' | 'terminal';

/** Told what happens, for metrics. */
export interface ControllerObserver {
  readonly queue?: QueueObserver;
  workers(count: number): void;
  active(count: number): void;
  /** How many reconciles go on although they were told to end. */
  overdue(count: number): void;
  reconciled(outcome: ReconcileOutcome, seconds: number): void;
}

/**
 * How long an aborted reconcile may linger before its worker is given to another key. Its own key is not: two reconciles of one
 * object at once would undo each other, so until the first has ended nothing is done about that object.
 */
const LINGER = 5_000;

/** A reconcile under way: `lingering` until it has ended, however it ends. */
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
  /** Keys whose reconcile goes on although it was told to end, and when its worker gave up waiting. */
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

  /** Milliseconds for which the worst reconcile has gone on although it was told to end. */
  get longestOverdue(): number {
    const now = this.#clock.monotonic();
    return Math.max(0, ...[...this.#overdue.values()].map((since) => now - since));
  }

  /**
   * Works until `stop` is aborted, then finishes what is queued and under way. `kill` ends reconciles under way at once.
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
    // A source may run for as long as the controller does; one that fails takes the controller with it.
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

  /** The key stays taken until its reconcile has ended. */
  async #leave(key: ObjectKey, lingering: Promise<void>): Promise<void> {
    const log = this.#log.child({ key });
    const since = this.#clock.monotonic();
    this.#overdue.set(key, since);
    this.#observer?.overdue(this.#overdue.size);
    log.error({}, 'a reconcile ignores that it should end; nothing is done about its object until it does');
    await lingering;
    this.#overdue.delete(key);
    this.#observer?.overdue(this.#overdue.size);
    log.warn({ overdueMs: Math.round(this.#clock.monotonic() - since) }, 'the overdue reconcile has ended');
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
        // "Again in no time" is a hot loop, and has silenced refreshes elsewhere when it was read as "never".
        if (!(requeueAfter > 0))
          throw new RangeError(`requeueAfter is ${requeueAfter}; it must be above 0 milliseconds`);
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
      log.error({ reason: explain(error) }, 'reconcile failed for good; waiting for a change');
      return 'terminal';
    }
    const delay = this.queue.addRateLimited(key);
    const fields = {
      reason: explain(error),
      retryInMs: Math.round(delay),
      failures: this.queue.failures(key),
    };
    if (error instanceof NotLeaderError) log.info(fields, 'not the leader: nothing was written');
    else log.error({ ...fields, err: error }, 'reconcile failed');
    return 'error';
  }

  /** A reconcile with its deadline. One that ignores its signal is left behind rather than allowed to hold a worker. */
  async #bounded(key: ObjectKey, kill: AbortSignal, log: Log, run: Run): Promise<Result | void> {
    const deadline = this.#options.deadline ?? 120_000;
    const ending = new AbortController();
    const left = Promise.withResolvers<never>();
    const expire = (reason: unknown) => {
      ending.abort(reason);
      cancel();
      cancel = this.#clock.after(LINGER, () => left.reject(reason));
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
      return await Promise.race([work, left.promise]);
    } finally {
      cancel();
      kill.removeEventListener('abort', stop);
    }
  }
}
