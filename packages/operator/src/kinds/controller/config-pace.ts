/**
 * Lets the first change of a configuration through at once and gathers what follows: every change makes slurmctld
 * read its files anew, and twenty NodeSets that change in a second should cost it two times, not twenty.
 */
export class ConfigPace {
  readonly #last = new Map<string, { readonly digest: string; readonly at: number }>();
  readonly #period: number;

  constructor(period = 1500) {
    this.#period = period;
  }

  /** Milliseconds to wait before this content may be written; 0: now. */
  wait(key: string, digest: string, now: number): number {
    const last = this.#last.get(key);
    if (last === undefined || last.digest === digest) return 0;
    return Math.max(0, last.at + this.#period - now);
  }

  wrote(key: string, digest: string, now: number): void {
    if (this.#last.get(key)?.digest !== digest) this.#last.set(key, { digest, at: now });
  }

  forget(key: string): void {
    this.#last.delete(key);
  }
}
