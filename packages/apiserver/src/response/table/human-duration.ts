/** Spans of time the way tables show them: fewer digits the longer they are. */

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

export function humanDuration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * minute) return `${seconds}s`;
  if (seconds < 10 * minute) return pair(seconds, minute, 'm', 1, 's');
  if (seconds < 3 * hour) return `${Math.floor(seconds / minute)}m`;
  if (seconds < 8 * hour) return pair(seconds, hour, 'h', minute, 'm');
  if (seconds < 2 * day) return `${Math.floor(seconds / hour)}h`;
  if (seconds < 8 * day) return pair(seconds, day, 'd', hour, 'h');
  if (seconds < 2 * year) return `${Math.floor(seconds / day)}d`;
  if (seconds < 8 * year) return pair(seconds, year, 'y', day, 'd');
  return `${Math.floor(seconds / year)}y`;
}

function pair(seconds: number, big: number, bigName: string, small: number, smallName: string): string {
  const whole = Math.floor(seconds / big);
  const rest = Math.floor((seconds - whole * big) / small);
  return rest === 0 ? `${whole}${bigName}` : `${whole}${bigName}${rest}${smallName}`;
}

/** How long ago a time of the API was. */
export function ageOf(time: unknown, now: number): string {
  if (typeof time !== 'string' || time === '') return '<unknown>';
  const at = Date.parse(time);
  return Number.isNaN(at) ? '<invalid>' : humanDuration(now - at);
}
