/** Time limits in Slurm's formats. */
import { InvalidInput } from '../errors.ts';

/**
 * Minutes of a time limit: a number of minutes, `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`,
 * `days-hours:minutes`, `days-hours:minutes:seconds`, or `infinite`/`UNLIMITED`. Seconds are rounded up, as Slurm does.
 */
export function parseTimeLimit(limit: number | string): number | 'infinite' {
  if (typeof limit === 'number') {
    if (!Number.isInteger(limit) || limit < 0) throw invalid(limit);
    return limit;
  }
  const text = limit.trim();
  if (/^(infinite|unlimited)$/i.test(text)) return 'infinite';
  const match = /^(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?$/.exec(text);
  if (match === null) throw invalid(limit);
  const [days, ...rest] = match.slice(1).map((part) => (part === undefined ? undefined : Number(part)));
  const parts = rest.filter((part) => part !== undefined);
  const [first = 0, second = 0, third = 0] = parts;
  // With days the first field is hours; without, one or two fields begin with minutes.
  const [hours, minutes, seconds] =
    days !== undefined || parts.length === 3 ? [first, second, third] : [0, first, second];
  if (seconds > 59 || (minutes > 59 && (days !== undefined || parts.length === 3))) throw invalid(limit);
  return (days ?? 0) * 1440 + hours * 60 + minutes + Math.ceil(seconds / 60);
}

/** `[days-]hh:mm:ss`. */
export function formatTimeLimit(minutes: number | 'infinite'): string {
  if (minutes === 'infinite') return 'UNLIMITED';
  const pad = (value: number) => String(value).padStart(2, '0');
  const days = Math.floor(minutes / 1440);
  const clock = `${pad(Math.floor((minutes % 1440) / 60))}:${pad(minutes % 60)}:00`;
  return days > 0 ? `${days}-${clock}` : clock;
}

function invalid(limit: number | string): InvalidInput {
  return new InvalidInput(
    `time limit "${limit}" is neither whole minutes nor [days-]hours:minutes:seconds; write 90 or "01:30:00"`,
  );
}
