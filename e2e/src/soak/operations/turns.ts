/** Which operations may run at the same time: each names the parts that it needs for itself. No I/O. */

/** What an operation may need for itself. `everything` waits for all others, and they wait for it. */
export type Part =
  | 'everything'
  | 'operator'
  | 'slurmctld'
  | 'machines'
  | 'keys'
  | 'MaxNodeCount'
  | 'Accounting'
  | 'LoginSet'
  | 'RestApi'
  | 'Token'
  | `NodeSet ${string}`;

interface Turn {
  readonly parts: readonly Part[];
  /** Asked for by an operation that runs already: what waits for that one to end must not keep it waiting. */
  readonly nested: boolean;
  readonly go: () => void;
}

/**
 * Turns come in the order in which they were asked for, but for those that wait for one part only. An operation that has a turn may ask
 * for that of one NodeSet within it, and for nothing within that: so no two can wait for each other.
 */
export class Turns {
  readonly #running = new Set<Turn>();
  #waiting: Turn[] = [];

  take<T>(parts: readonly Part[], work: () => Promise<T>): Promise<T> {
    return this.#take(parts, work, false);
  }

  within<T>(nodeSet: string, work: () => Promise<T>): Promise<T> {
    return this.#take([`NodeSet ${nodeSet}`], work, true);
  }

  async #take<T>(parts: readonly Part[], work: () => Promise<T>, nested: boolean): Promise<T> {
    const begun = Promise.withResolvers<void>();
    const turn = { parts, nested, go: begun.resolve };
    this.#waiting.push(turn);
    this.#startNext();
    await begun.promise;
    try {
      return await work();
    } finally {
      this.#running.delete(turn);
      this.#startNext();
    }
  }

  #startNext(): void {
    let everythingWaits = false;
    this.#waiting = this.#waiting.filter((turn) => {
      if ((everythingWaits && !turn.nested) || this.#isBlocked(turn)) {
        everythingWaits ||= turn.parts.includes('everything');
        return true;
      }
      this.#running.add(turn);
      turn.go();
      return false;
    });
  }

  #isBlocked({ parts }: Turn): boolean {
    const running = [...this.#running];
    if (parts.includes('everything')) return running.length > 0;
    return running.some((held) => held.parts.some((part) => part === 'everything' || parts.includes(part)));
  }
}
