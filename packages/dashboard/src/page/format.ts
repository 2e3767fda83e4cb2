/** How the page writes numbers, times and states. Pure. */

export function count(value: number, one: string, many = `${one}s`): string {
  return `${value.toLocaleString('en')} ${value === 1 ? one : many}`;
}

/** `2 d 4 h`, `5 min`, `12 s`: two units at most. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const units: readonly (readonly [string, number])[] = [
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
  ];
  const first = units.findIndex(([, size]) => seconds >= size);
  if (first === -1) return '0 s';
  const parts: string[] = [];
  let rest = seconds;
  for (const [name, size] of units.slice(first, first + 2)) {
    const whole = Math.floor(rest / size);
    rest -= whole * size;
    if (whole > 0) parts.push(`${whole} ${name}`);
  }
  return parts.join(' ');
}

/** Slurm's minutes: `1 d 2 h`, `no limit`. */
export function timeLimit(minutes: number): string {
  if (minutes < 0) return 'no limit';
  return minutes === 0 ? '' : span(minutes * 60_000);
}

export function clock(at: number, now: number): string {
  if (at === 0) return '';
  const date = new Date(at);
  const time = date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  return Math.abs(now - at) < 20 * 3_600_000 ? time : `${date.toLocaleDateString()} ${time}`;
}

export function memory(megabytes: number): string {
  if (megabytes < 1024) return `${megabytes} MB`;
  const gigabytes = megabytes / 1024;
  return gigabytes < 1024 ? `${round(gigabytes)} GB` : `${round(gigabytes / 1024)} TB`;
}

const round = (value: number) =>
  (value < 10 ? Math.round(value * 10) / 10 : Math.round(value)).toLocaleString('en');

export function percent(part: number, whole: number): string {
  return whole === 0 ? '–' : `${Math.round((part / whole) * 100)} %`;
}
