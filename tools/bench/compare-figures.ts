/** Compares the figures of a benchmark with committed ones of another machine, by ratios within each run. Pure. */

export type Figures = Readonly<Record<string, number>>;

export interface Slower {
  readonly key: string;
  readonly before: number;
  readonly now: number;
  /** By how much more than before, where the speed of the machine is taken out. */
  readonly factor: number;
}

/** More than this is reported. */
const tolerance = 1.2;
/** What is measured beside a figure and says how fast this machine is now: posting the same pods without an operator. */
const floor = 'raw_create_seconds';
const duration = /_(?:seconds|ms|percent)(?:_|$)/;
/** More of these is better, or they describe the run. */
const ignored = /_met$|^load_|^idle_seconds$|^clusters$|^workers$|^raw_create_/;
/** Below this a change is noise of the clock. */
const least = 0.05;

/**
 * Counts (writes, requests, lists, megabytes) and ratios are the same on every machine. A duration counts as slower only if it is, and
 * also in proportion to the floor of its run: a machine that is slow today does not count.
 */
export function slowerThan(before: Figures, now: Figures): Slower[] {
  return Object.keys(now).flatMap((key) => {
    const [was, is] = [before[key], now[key]];
    if (was === undefined || is === undefined || ignored.test(key) || is <= least) return [];
    const plain = is / was;
    const factor = duration.test(key) ? Math.min(plain, plain / speed(key, before, now)) : plain;
    return factor > tolerance ? [{ key, before: was, now: is, factor }] : [];
  });
}

/** How much longer the machine needed for the floor of the same size; 1 where it was not measured. */
function speed(key: string, before: Figures, now: Figures): number {
  const size = /_(\d+)$/.exec(key)?.[1];
  const [was, is] = [before[`${floor}_${size}`], now[`${floor}_${size}`]];
  return was === undefined || is === undefined ? 1 : is / was;
}

/** The figures of the last line of a benchmark's output, if it is one. */
export function figuresOf(output: string): { readonly bench: string; readonly figures: Figures } | undefined {
  const line = output.trimEnd().split('\n').at(-1) ?? '';
  if (!line.startsWith('{')) return undefined;
  const { bench, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const numbers = Object.entries(rest).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  );
  return typeof bench === 'string' ? { bench, figures: Object.fromEntries(numbers) } : undefined;
}
