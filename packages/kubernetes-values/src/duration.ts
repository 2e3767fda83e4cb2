/** Durations as Go writes them: `1h30m`, `1.5s`, `-2ms`, `0`. Pure. */

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);
const LARGEST = 2n ** 63n - 1n;

/** Nanoseconds; undefined when the text is no duration or does not fit 64 bits. */
export function parseDuration(text: string): bigint | undefined {
  const read = readDuration(text);
  return typeof read === 'bigint' ? read : undefined;
}

/** Why the text is no duration, in the words of Go; undefined when it is one. */
export function durationFault(text: string): string | undefined {
  const read = readDuration(text);
  return typeof read === 'bigint' ? undefined : read;
}

/** As `parseDuration`, in milliseconds, which is what timers take. */
export function durationMilliseconds(text: string): number | undefined {
  const nanos = parseDuration(text);
  return nanos === undefined ? undefined : Number(nanos / 1_000n) / 1_000;
}

/** Whole seconds as Go prints them: 10 → `10s`, 80 → `1m20s`, 3600 → `1h0m0s`. */
export function formatDuration(seconds: number): string {
  const whole = Math.round(Math.abs(seconds));
  const sign = seconds < 0 && whole > 0 ? '-' : '';
  const hours = whole >= 3600 ? `${Math.floor(whole / 3600)}h` : '';
  const minutes = whole >= 60 ? `${Math.floor((whole % 3600) / 60)}m` : '';
  return `${sign}${hours}${minutes}${whole % 60}s`;
}

/** The nanoseconds, or what Go says is wrong. */
function readDuration(text: string): bigint | string {
  const shown = JSON.stringify(text);
  const negative = text.startsWith('-');
  let rest = text.replace(/^[+-]/, '');
  if (rest === '0') return 0n;
  if (rest === '') return `time: invalid duration ${shown}`;
  let nanos = 0n;
  while (rest !== '') {
    const number = /^(?:(\d+)\.?(\d*)|\.(\d+))/.exec(rest);
    if (number === null) return `time: invalid duration ${shown}`;
    rest = rest.slice(number[0].length);
    const unit = /^[^\d.]+/.exec(rest)?.[0];
    if (unit === undefined) return `time: missing unit in duration ${shown}`;
    const size = UNITS.get(unit);
    if (size === undefined) return `time: unknown unit ${JSON.stringify(unit)} in duration ${shown}`;
    const fraction = number[2] ?? number[3] ?? '';
    nanos +=
      BigInt(number[1] ?? '0') * size + (BigInt(fraction || '0') * size) / 10n ** BigInt(fraction.length);
    rest = rest.slice(unit.length);
  }
  if (nanos > LARGEST) return `time: invalid duration ${shown}`;
  return negative ? -nanos : nanos;
}
