/** How often one user may change something. Time is injected. */
import type { Clock } from '@slurm-operator/slurm';

export interface WriteLimitOptions {
  readonly clock: Clock;
  /** Default 20 in a minute. */
  readonly perMinute?: number;
}

const windowMs = 60_000;
const mostUsers = 10_000;

export class WriteLimit {
  readonly #clock: Clock;
  readonly #perMinute: number;
  readonly #writes = new Map<string, readonly number[]>();

  constructor({ clock, perMinute = 20 }: WriteLimitOptions) {
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  /** Counts a write, or answers the milliseconds until the next one is allowed. */
  waitOf(user: string): number {
    const now = this.#clock.now();
    // A clock that was set back must not lock anyone out.
    const recent = (this.#writes.get(user) ?? []).filter((at) => at > now - windowMs && at <= now);
    const [oldest] = recent;
    if (recent.length >= this.#perMinute && oldest !== undefined) return oldest + windowMs - now;
    this.#writes.delete(user);
    this.#writes.set(user, [...recent, now]);
    for (const first of this.#writes.keys()) {
      if (this.#writes.size <= mostUsers) break;
      this.#writes.delete(first);
    }
    return 0;
  }
}
