let last = 0;

/**
 * The time, but never the same twice: a later call returns more. The fake Slurm dates its lists by it and the operator under test
 * its writes, so that a list and a write of the same millisecond still have an order, and it is the true one.
 */
export function strictlyLater(): number {
  last = Math.max(last + 1, Date.now());
  return last;
}

let lastStart = 0;

/**
 * When a container starts, in whole seconds as Kubernetes and Slurm count, and never within a second of another start: at the pace
 * of a test a worker and its successor would else seem to have started at once, or not, as the load of the machine has it.
 */
export function startOfItsOwn(): number {
  lastStart = Math.max(lastStart + 3_000, Math.floor(Date.now() / 1000) * 1000);
  return lastStart;
}
