/**
 * When slurmctld started, as far as that is known. It is asked with every ping, so for some seconds the answer may be that of a slurmctld
 * that ended since. Nodes that vanished from the list are a sign of that: until it was asked again, it counts as started then.
 */
export class ControllerStart {
  #told: { readonly startedAt: number; readonly askedAt: number } | undefined;
  #removedAt = Number.NEGATIVE_INFINITY;

  get at(): number | undefined {
    if (this.#told === undefined) return undefined;
    const { startedAt, askedAt } = this.#told;
    return askedAt > this.#removedAt ? startedAt : Math.max(startedAt, this.#removedAt);
  }

  /** What slurmctld said to a question of that moment; undefined: it does not say yet. */
  told(startedAt: number | undefined, askedAt: number): void {
    this.#told = startedAt === undefined ? undefined : { startedAt, askedAt };
  }

  /** A list lacks nodes that the one before had. */
  nodesRemoved(at: number): void {
    this.#removedAt = at;
  }
}
