/** How findings write numbers, names and times. */
import { compressHostlist } from '@slurm-operator/slurm';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** `3 d 2 h`, `4 h 5 min`, `12 min`, `8 s`. */
export function span(milliseconds: number): string {
  const ms = Math.max(0, milliseconds);
  const two = (big: number, bigName: string, small: number, smallName: string) => {
    const whole = Math.floor(ms / big);
    const rest = Math.floor((ms % big) / small);
    return rest === 0 ? `${whole} ${bigName}` : `${whole} ${bigName} ${rest} ${smallName}`;
  };
  if (ms >= day) return two(day, 'd', hour, 'h');
  if (ms >= hour) return two(hour, 'h', minute, 'min');
  if (ms >= minute) return `${Math.floor(ms / minute)} min`;
  return `${Math.floor(ms / second)} s`;
}

/** `18:40` today, `Fri 18:40` within six days, else `2026-11-20 18:40`. */
export function moment(at: number, { now, timeZone }: { now: number; timeZone: string }): string {
  const part = (options: Intl.DateTimeFormatOptions, when = at) =>
    new Intl.DateTimeFormat('en-GB', { timeZone, ...options }).format(when);
  const time = part({ hour: '2-digit', minute: '2-digit' });
  const date: Intl.DateTimeFormatOptions = { year: 'numeric', month: '2-digit', day: '2-digit' };
  if (part(date) === part(date, now)) return time;
  if (Math.abs(at - now) < 6 * day) return `${part({ weekday: 'short' })} ${time}`;
  return `${part(date).split('/').toReversed().join('-')} ${time}`;
}

export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number.toLocaleString('en-US')} ${number === 1 ? one : many}`;

/** Node names as a hostlist, cut after some; other names as a list. */
export function hosts(names: Iterable<string>, most = 100): string {
  const list = [...names];
  const shown = list.slice(0, most);
  let text: string;
  try {
    text = compressHostlist(shown);
  } catch {
    text = shown.join(', ');
  }
  return list.length > most ? `${text} and ${list.length - most} more` : text;
}

/** `a`, `a and b`, `a, b and 3 more`. */
export function listed(items: readonly string[], most = 3): string {
  if (items.length <= 1) return items[0] ?? '';
  const shown = items.slice(0, items.length <= most ? items.length - 1 : most);
  const rest = items.length - shown.length;
  return `${shown.join(', ')} and ${rest === 1 && items.length <= most ? items.at(-1) : `${rest} more`}`;
}

/** Another program's words, on one line and not too long. */
export function quote(words: string, most = 220): string {
  const line = words.replaceAll(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** A word of a command as a shell reads it: names of others must not become commands when the line is copied. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./[\]-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** The last line that looks like an error, else the last line. */
export function lastError(log: string): string {
  const lines = log.split('\n').filter((line) => line.trim() !== '');
  return quote(lines.findLast((line) => /fatal|error|failed|denied/i.test(line)) ?? lines.at(-1) ?? '');
}

/** Names, reasons and messages that others wrote, safe to show: no control character of theirs reaches a terminal or a page. */

// C0, DEL and C1 control characters; marks that reverse the direction of text or end lines.
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const unsafe = /[\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF]/g;

/** On one line, with every control character written out, such as `\x1b`. */
export function printable(text: string): string {
  return text.replaceAll(unsafe, (letter) => {
    if (letter === '\n' || letter === '\t' || letter === '\r') return ' ';
    return written(letter);
  });
}

/** The same for text of several lines: line feeds and tabs stay. */
export const printableLines = (text: string): string =>
  text.replaceAll(unsafe, (letter) => (letter === '\n' || letter === '\t' ? letter : written(letter)));

function written(letter: string): string {
  const code = letter.charCodeAt(0).toString(16);
  return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`;
}
