import { type Clock, systemClock } from '@slurm-operator/kube';

interface Held {
  readonly delay: number;
  readonly callback: () => void;
  cancel: (() => void) | undefined;
}

/** Shorter delays are retries of the moment, not "look again later". */
const moment = 50;

/** A clock whose later looks wait until they are asked for: how loaded a machine is then decides nothing. */
export class PatientClock implements Clock {
  readonly #held = new Set<Held>();
  #released = false;

  readonly now = strictlyLater;
  readonly monotonic = systemClock.monotonic;
  readonly random = systemClock.random;

  readonly after = (delay: number, callback: () => void): (() => void) => {
    if (this.#released || delay < moment) return systemClock.after(delay, callback);
    const held: Held = { delay, callback, cancel: undefined };
    this.#held.add(held);
    return () => {
      this.#held.delete(held);
      held.cancel?.();
    };
  };

  /** Lets so much time pass: what waited for less happens now. */
  pass(milliseconds: number): void {
    // Chosen beforehand: a caller that is woken may wait again.
    for (const held of this.#held
      .values()
      .filter(({ delay }) => delay <= milliseconds)
      .toArray()) {
      this.#held.delete(held);
      held.callback();
    }
  }

  /** From now on time passes on its own. */
  release(): void {
    this.#released = true;
    for (const held of this.#held) held.cancel = systemClock.after(held.delay, held.callback);
    this.#held.clear();
  }
}

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
