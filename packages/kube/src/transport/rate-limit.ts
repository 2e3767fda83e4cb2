/** A token bucket: bursts up to `burst`, then `qps` per second, in order of arrival. */
import { type Clock, sleep } from '../clock.ts';

export interface RateLimit {
  /** Sustained requests per second. */
  readonly qps: number;
  readonly burst: number;
}

export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  #tokens: number;
  #at: number;

  constructor(limit: RateLimit, clock: Clock) {
    if (!(limit.qps > 0) || !(limit.burst >= 1))
      throw new RangeError(
        `rate limit of ${limit.qps}/s, burst ${limit.burst}: qps must be above 0 and burst at least 1; use false for no limit`,
      );
    this.#limit = limit;
    this.#clock = clock;
    this.#tokens = limit.burst;
    this.#at = clock.monotonic();
  }

  /** Takes a token, and waits until there is one. A negative number of tokens is the length of the queue. */
  async take(signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#limit.burst, this.#tokens + ((now - this.#at) * this.#limit.qps) / 1000);
    this.#at = now;
    this.#tokens -= 1;
    if (this.#tokens >= 0) return;
    try {
      await sleep((-this.#tokens / this.#limit.qps) * 1000, signal, this.#clock);
    } catch (error) {
      this.#tokens += 1;
      throw error;
    }
  }
}
