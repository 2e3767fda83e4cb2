let last = 0;

/**
 * The time, but never the same twice: whoever asks later gets more. The fake Slurm dates its lists by it and the operator under test
 * its writes, so that a list and a write of the same millisecond still have an order, and it is the true one.
 */
export function strictlyLater(): number {
  last = Math.max(last + 1, Date.now());
  return last;
}
