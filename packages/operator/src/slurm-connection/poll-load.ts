/**
 * How many connections of this program poll fast now, and how fast each may: a few poll five times a second; fifty at that rate would take
 * all of its time, and each would be slower than with one poll a second.
 */
export class PollLoad {
  static readonly #fastestMs = 200;
  static readonly #slowestMs = 1_000;
  static readonly #msPerConnection = 25;
  readonly #fast = new Set<object>();

  set(connection: object, isFast: boolean): void {
    if (isFast) this.#fast.add(connection);
    else this.#fast.delete(connection);
  }

  /** Milliseconds between two lists of one connection. */
  get fastMs(): number {
    const shared = this.#fast.size * PollLoad.#msPerConnection;
    return Math.min(PollLoad.#slowestMs, Math.max(PollLoad.#fastestMs, shared));
  }
}
