/** A clock that advances only when a test advances it. */
import type { Clock } from '../src/clock.ts';

export class FakeClock implements Clock {
  #monotonic = 1_000_000;
  #wall: number;
  #sequence = 0;
  #seed: number;
  readonly #timers = new Map<number, { due: number; callback: () => void }>();

  constructor(options: { wall?: number; seed?: number } = {}) {
    this.#wall = options.wall ?? Date.UTC(2026, 0, 2, 3, 4, 5);
    this.#seed = options.seed ?? 1;
  }

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  after(delay: number, callback: () => void): () => void {
    const id = (this.#sequence += 1);
    this.#timers.set(id, { due: this.#monotonic + Math.max(0, delay), callback });
    return () => this.#timers.delete(id);
  }

  /** A linear congruential generator, reproducible by its seed. */
  random(): number {
    this.#seed = (this.#seed * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return this.#seed / 2 ** 32;
  }

  get timers(): number {
    return this.#timers.size;
  }

  /** Changes only the wall clock, as an administrator or NTP does. */
  jump(milliseconds: number): void {
    this.#wall += milliseconds;
  }

  /** Advances time without running timers: a suspended process. */
  freeze(milliseconds: number): void {
    this.#monotonic += milliseconds;
    this.#wall += milliseconds;
  }

  /** Advances time, runs due timers in order and lets promises settle after each. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#monotonic + milliseconds;
    await settle();
    for (;;) {
      let soonest: [number, { due: number; callback: () => void }] | undefined;
      for (const timer of this.#timers)
        if (timer[1].due <= end && (soonest === undefined || timer[1].due < soonest[1].due)) soonest = timer;
      if (soonest === undefined) break;
      this.#timers.delete(soonest[0]);
      const step = Math.max(0, soonest[1].due - this.#monotonic);
      this.#monotonic += step;
      this.#wall += step;
      soonest[1].callback();
      await settle();
    }
    this.#wall += end - this.#monotonic;
    this.#monotonic = end;
    await settle();
  }
}

/** Lets pending promise callbacks run. */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
