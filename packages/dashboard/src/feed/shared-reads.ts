/** Reads of Slurm that several people ask for within seconds are made once, so that requests do not grow with browsers. */
import type { Clock } from '@slurm-operator/slurm';

interface Kept {
  readonly at: number;
  readonly answer: Promise<unknown>;
}

/** A page of one job is one entry. */
const mostKept = 500;
const readTimeoutMs = 20_000;

export class SharedReads {
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The answer of a read that began at most `ms` ago, or of a new one. A failure is not kept. */
  read<T>(name: string, ms: number, fetch: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const now = this.#clock.now();
    const known = this.#kept.get(name);
    if (known !== undefined && now - known.at < ms && now >= known.at) return known.answer as Promise<T>;
    // Not the signal of who asked first: others wait for the same answer.
    const answer = fetch(AbortSignal.timeout(readTimeoutMs));
    const kept: Kept = { at: now, answer };
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    answer.catch(() => {
      if (this.#kept.get(name) === kept) this.#kept.delete(name);
    });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= mostKept) break;
      this.#kept.delete(oldest);
    }
    return answer;
  }
}
