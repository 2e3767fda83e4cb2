/**
 * How long the event loop was held. What counts is what this process did: the time that it waited for a CPU while others had
 * them (Linux tells, per thread) is the machine's and is told apart, so that the figure is the same on a busy machine.
 */
import { closeSync, openSync, readSync } from 'node:fs';

export interface Stall {
  /** Longest time in which this process kept its loop from turning. */
  readonly heldMs: number;
  /** Longest time in which the event loop was blocked, for any cause. */
  readonly wallMs: number;
}

const everyMs = 5;

export class StallMeter implements Disposable {
  readonly #schedule = openSchedule();
  readonly #buffer = Buffer.alloc(128);
  readonly #timer: NodeJS.Timeout;
  #last = { at: performance.now(), waited: this.#waitedMs() };
  #heldMs = 0;
  #wallMs = 0;

  constructor() {
    this.#timer = setInterval(() => this.#look(), everyMs);
  }

  /** The longest stall since the last call. */
  take(): Stall {
    const stall = { heldMs: this.#heldMs, wallMs: this.#wallMs };
    this.skip();
    return stall;
  }

  /** Forgets everything up to now: what the benchmark itself did, such as starting processes, is not measured. */
  skip(): void {
    this.#last = { at: performance.now(), waited: this.#waitedMs() };
    this.#heldMs = this.#wallMs = 0;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    if (this.#schedule !== undefined) closeSync(this.#schedule);
  }

  #look(): void {
    const now = { at: performance.now(), waited: this.#waitedMs() };
    const late = Math.max(0, now.at - this.#last.at - everyMs);
    this.#wallMs = Math.max(this.#wallMs, late);
    this.#heldMs = Math.max(this.#heldMs, late - (now.waited - this.#last.waited));
    this.#last = now;
  }

  /** Milliseconds that this thread was ready to run and did not get a CPU. 0 if the system does not report it. */
  #waitedMs(): number {
    if (this.#schedule === undefined) return 0;
    const length = readSync(this.#schedule, this.#buffer, 0, this.#buffer.length, 0);
    return Number(this.#buffer.toString('latin1', 0, length).split(' ')[1]) / 1e6;
  }
}

function openSchedule(): number | undefined {
  try {
    return openSync('/proc/thread-self/schedstat', 'r');
  } catch {
    return undefined;
  }
}
