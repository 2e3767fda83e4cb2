import { type Clock, systemClock } from '@slurm-operator/kube';
import { strictlyLater } from './strictly-later.ts';

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
