/** Timestamps: reading, writing, and their calendar fields; the text of durations. */
import { type Duration, Timestamp } from './values.ts';

/** Whole and fractional seconds with an `s`. */
export function durationText({ nanos }: Duration): string {
  const sign = nanos < 0n ? '-' : '';
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = (size % 1_000_000_000n).toString().padStart(9, '0').replace(/0+$/, '');
  return `${sign}${size / 1_000_000_000n}${fraction === '' ? '' : `.${fraction}`}s`;
}

/** RFC 3339. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(text);
  if (!match) return undefined;
  const milliseconds = Date.parse(`${match[1]}${match[3]}`);
  if (Number.isNaN(milliseconds)) return undefined;
  const fraction = BigInt((match[2] ?? '').padEnd(9, '0'));
  return new Timestamp(BigInt(milliseconds) * 1_000_000n + fraction);
}

export function timestampText({ nanos }: Timestamp): string {
  const seconds = floorDivide(nanos, 1_000_000_000n);
  const fraction = (nanos - seconds * 1_000_000_000n).toString().padStart(9, '0').replace(/0+$/, '');
  const text = new Date(Number(seconds) * 1000).toISOString().replace(/\.000Z$/, '');
  return `${text}${fraction === '' ? '' : `.${fraction}`}Z`;
}

function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b < 0n ? quotient - 1n : quotient;
}

/** The date of a timestamp as seen in a zone (`UTC`, `Europe/Berlin`, `+02:00`), its fields read as UTC. */
export function inZone({ nanos }: Timestamp, zone: string): Date | undefined {
  const milliseconds = Number(floorDivide(nanos, 1_000_000n));
  const fixed = /^([+-]?)(\d\d):(\d\d)$/.exec(zone);
  if (fixed) {
    const offset = (Number(fixed[2]) * 60 + Number(fixed[3])) * (fixed[1] === '-' ? -1 : 1);
    return new Date(milliseconds + offset * 60_000);
  }
  if (zone === '' || zone === 'UTC') return new Date(milliseconds);
  try {
    const parts = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    }).formatToParts(milliseconds);
    const field = (type: string): string => parts.find((part) => part.type === type)?.value ?? '0';
    const shown = `${field('year').padStart(4, '0')}-${field('month')}-${field('day')}T${field('hour')}:${field('minute')}:${field('second')}Z`;
    return new Date(Date.parse(shown) + (((milliseconds % 1000) + 1000) % 1000));
  } catch {
    return undefined;
  }
}
