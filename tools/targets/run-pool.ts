import { setTimeout as sleep } from 'node:timers/promises';
import { type Capacity, nextWork, type Work } from './schedule.ts';
import { dim, duration } from './terminal.ts';

export interface PoolWork extends Work {
  /** Does the work and answers the line that tells how it went. It does not throw: what went wrong is its result. */
  run(): Promise<string>;
}

export interface PoolOptions {
  /** Asked before each start. */
  readonly capacity: () => Capacity;
  readonly say?: (line: string) => void;
  /** Interval of the progress output. */
  readonly silenceMs?: number;
  /** What begins in a lane beside others waits this long after the one before: beginnings are the busiest time. */
  readonly apartMs?: number;
}

/** Runs all the work, as much at a time as there is capacity for, with a line for each piece that is over. */
export async function runPool(
  all: readonly PoolWork[],
  { capacity, say = console.log, silenceMs = 20_000, apartMs = 500 }: PoolOptions,
): Promise<void> {
  const began = performance.now();
  const pending = new Set(all);
  const running = new Map<PoolWork, { readonly since: number; readonly over: Promise<void> }>();
  let over = 0;
  let lastLine = began;
  const tell = (line: string) => {
    lastLine = performance.now();
    say(`${dim(clock(lastLine - began))} ${line}`);
  };
  const start = (work: PoolWork) => {
    pending.delete(work);
    const done = async () => {
      const line = await work.run();
      running.delete(work);
      over += 1;
      tell(`${line} ${dim(`(${over} of ${all.length})`)}`);
    };
    running.set(work, { since: performance.now(), over: done() });
  };
  while (pending.size + running.size > 0) {
    const next = nextWork([...pending], [...running.keys()], capacity());
    const latest = Math.max(
      Number.NEGATIVE_INFINITY,
      ...[...running].filter(([work]) => work.lane === next?.lane).map(([, { since }]) => since),
    );
    if (next !== undefined && performance.now() - latest >= apartMs) {
      start(next);
      continue;
    }
    // Woken now and then although nothing ended: capacity may have been made.
    const waking = new AbortController();
    await Promise.race([
      ...[...running.values()].map((one) => one.over),
      sleep(next === undefined ? 1000 : apartMs, undefined, { signal: waking.signal }).catch(() => {}),
    ]);
    waking.abort();
    if (running.size === 0 || performance.now() - lastLine < silenceMs) continue;
    const names = [...running].map(
      ([work, { since }]) => `${work.name} ${duration(performance.now() - since)}`,
    );
    tell(dim(`… running: ${names.join(', ')}`));
  }
}

/** Minutes and seconds since the beginning, as a column. */
function clock(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  return `${String(Math.floor(seconds / 60)).padStart(3)}:${String(seconds % 60).padStart(2, '0')}`;
}
