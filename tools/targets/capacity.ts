/**
 * How much may run at a time. Red runs cost more than slow ones: where others use the machine too, or where it is slow, the
 * pool takes fewer, so that each gets about as much of a core as it would on a quiet machine.
 */
import { readFileSync } from 'node:fs';
import type { Capacity } from './schedule.ts';

/** `load`: how many processes want a core at a time, on average, for each core there is. */
export function capacityFor(cores: number, load: number): Capacity {
  const computing = Math.max(1, Math.floor(cores / 2));
  if (load < 3.5) return { computing, waiting: 2 * cores, preparing: 2 };
  if (load < 6) return { computing, waiting: cores, preparing: 2 };
  return { computing: 1, waiting: 1, preparing: 2 };
}

/** What one look counts for: the average follows a change within some ten seconds. */
const weight = 0.05;
const sampleEveryMs = 500;

/** Keeps an average of how many processes want a core. Only available on Linux. */
export class Load {
  #average = 0;
  readonly #cores: number;
  readonly #read: () => number;
  readonly #timer: NodeJS.Timeout;

  constructor(cores: number, read: () => number = runnable) {
    this.#cores = cores;
    this.#read = read;
    this.#timer = setInterval(() => this.sample(), sampleEveryMs);
    this.#timer.unref();
  }

  sample(): void {
    this.#average += weight * (this.#read() / this.#cores - this.#average);
  }

  get perCore(): number {
    return this.#average;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** Processes that run or want to, at this moment, but for the one that asks. */
function runnable(): number {
  try {
    const found = /^procs_running (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'));
    return Math.max(0, Number(found?.[1] ?? 1) - 1);
  } catch {
    return 0;
  }
}
