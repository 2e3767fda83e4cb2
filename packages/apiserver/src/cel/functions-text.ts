/** Strings, regular expressions, times and lists. */

import { CelRuntimeError } from './errors.ts';
import { formatText } from './format-text.ts';
import { regularExpression } from './regular-expression.ts';
import { type Overload, overload } from './signature.ts';
import { inZone } from './time.ts';
import {
  type CelValue,
  codePoints,
  compareValues,
  Duration,
  equals,
  type Timestamp,
  Uint,
} from './values.ts';

function position(characters: readonly string[], at: bigint): number {
  if (at < 0n || at > BigInt(characters.length)) throw new CelRuntimeError(`index out of range: ${at}`);
  return Number(at);
}

function indexIn(text: string, part: string, from: bigint): bigint {
  const characters = codePoints(text);
  const head = characters.slice(0, position(characters, from)).join('').length;
  const found = text.indexOf(part, head);
  return found === -1 ? -1n : BigInt(codePoints(text.slice(0, found)).length);
}

function lastIndexIn(text: string, part: string, from: bigint): bigint {
  const characters = codePoints(text);
  const found = text.lastIndexOf(part, characters.slice(0, position(characters, from)).join('').length);
  return found === -1 ? -1n : BigInt(codePoints(text.slice(0, found)).length);
}

function between(text: string, start: bigint, end?: bigint): string {
  const characters = codePoints(text);
  const from = position(characters, start);
  const to = end === undefined ? characters.length : position(characters, end);
  if (from > to) throw new CelRuntimeError(`invalid substring range. start: ${from}, end: ${to}`);
  return characters.slice(from, to).join('');
}

function splitText(text: string, by: string, limit: bigint): string[] {
  if (limit === 0n) return [];
  const parts = by === '' ? codePoints(text) : text.split(by);
  if (limit < 0n || parts.length <= limit) return parts;
  const count = Number(limit);
  return [...parts.slice(0, count - 1), parts.slice(count - 1).join(by)];
}

function replaceText(text: string, from: string, to: string, limit: bigint): string {
  if (limit < 0n) return text.replaceAll(from, () => to);
  let out = text;
  let at = 0;
  for (let count = 0n; count < limit; count += 1n) {
    const found = out.indexOf(from, at);
    if (found === -1) break;
    out = out.slice(0, found) + to + out.slice(found + from.length);
    at = found + to.length;
  }
  return out;
}

const strings: Overload[] = [
  overload('string.contains(string) bool', (a: string, b: string) => a.includes(b)),
  overload('string.startsWith(string) bool', (a: string, b: string) => a.startsWith(b)),
  overload('string.endsWith(string) bool', (a: string, b: string) => a.endsWith(b)),
  overload('string.matches(string) bool', (a: string, b: string) => regularExpression(b).test(a)),
  overload('matches(string, string) bool', (a: string, b: string) => regularExpression(b).test(a)),
  overload('string.find(string) string', (a: string, b: string) => regularExpression(b).exec(a)?.[0] ?? ''),
  overload('string.findAll(string) list(string)', (a: string, b: string) => findAll(a, b, -1n)),
  overload('string.findAll(string, int) list(string)', findAll),
  overload('string.charAt(int) string', (a: string, at: bigint) => {
    const characters = codePoints(a);
    return characters[position(characters, at)] ?? '';
  }),
  overload('string.indexOf(string) int', (a: string, b: string) => indexIn(a, b, 0n)),
  overload('string.indexOf(string, int) int', indexIn),
  overload('string.lastIndexOf(string) int', (a: string, b: string) =>
    lastIndexIn(a, b, BigInt(codePoints(a).length)),
  ),
  overload('string.lastIndexOf(string, int) int', lastIndexIn),
  overload('string.lowerAscii() string', (a: string) =>
    a.replace(/[A-Z]/g, (letter) => letter.toLowerCase()),
  ),
  overload('string.upperAscii() string', (a: string) =>
    a.replace(/[a-z]/g, (letter) => letter.toUpperCase()),
  ),
  overload('string.trim() string', (a: string) => a.trim()),
  overload('string.reverse() string', (a: string) => codePoints(a).toReversed().join('')),
  overload('string.substring(int) string', (a: string, start: bigint) => between(a, start)),
  overload('string.substring(int, int) string', between),
  overload('string.split(string) list(string)', (a: string, by: string) => splitText(a, by, -1n)),
  overload('string.split(string, int) list(string)', splitText),
  overload('string.replace(string, string) string', (a: string, from: string, to: string) =>
    replaceText(a, from, to, -1n),
  ),
  overload('string.replace(string, string, int) string', replaceText),
  overload('list(string).join() string', (list: string[]) => list.join('')),
  overload('list(string).join(string) string', (list: string[], by: string) => list.join(by)),
  overload('string.format(list(dyn)) string', (template: string, args: CelValue[]) =>
    formatText(template, args),
  ),
  overload('strings.quote(string) string', (a: string) => JSON.stringify(a)),
];

function findAll(text: string, pattern: string, limit: bigint): string[] {
  const every = [...text.matchAll(new RegExp(regularExpression(pattern).source, 'gu'))].map(
    (match) => match[0],
  );
  return limit < 0n ? every : every.slice(0, Number(limit));
}

function dateField(name: string, read: (date: Date) => number): Overload[] {
  const run = (at: Timestamp, zone = 'UTC'): bigint => {
    const date = inZone(at, zone);
    if (!date) throw new CelRuntimeError(`unknown time zone ${zone}`);
    return BigInt(read(date));
  };
  return [
    overload(`timestamp.${name}() int`, (at: Timestamp) => run(at)),
    overload(`timestamp.${name}(string) int`, (at: Timestamp, zone: string) => run(at, zone)),
  ];
}

function dayOfYear(date: Date): number {
  return Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000);
}

const times: Overload[] = [
  ...dateField('getFullYear', (date) => date.getUTCFullYear()),
  ...dateField('getMonth', (date) => date.getUTCMonth()),
  ...dateField('getDate', (date) => date.getUTCDate()),
  ...dateField('getDayOfMonth', (date) => date.getUTCDate() - 1),
  ...dateField('getDayOfWeek', (date) => date.getUTCDay()),
  ...dateField('getDayOfYear', dayOfYear),
  ...dateField('getHours', (date) => date.getUTCHours()),
  ...dateField('getMinutes', (date) => date.getUTCMinutes()),
  ...dateField('getSeconds', (date) => date.getUTCSeconds()),
  ...dateField('getMilliseconds', (date) => date.getUTCMilliseconds()),
  overload('duration.getHours() int', (a: Duration) => a.nanos / 3_600_000_000_000n),
  overload('duration.getMinutes() int', (a: Duration) => a.nanos / 60_000_000_000n),
  overload('duration.getSeconds() int', (a: Duration) => a.nanos / 1_000_000_000n),
  overload('duration.getMilliseconds() int', (a: Duration) => (a.nanos / 1_000_000n) % 1000n),
];

function extreme(list: readonly CelValue[], wanted: number): CelValue {
  const [first, ...rest] = list;
  if (first === undefined)
    throw new CelRuntimeError(wanted < 0 ? 'min called on empty list' : 'max called on empty list');
  return rest.reduce((best, item) => (Math.sign(compareValues(item, best)) === wanted ? item : best), first);
}

const comparable = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];

function sum(list: readonly CelValue[], zero: CelValue): CelValue {
  return list.reduce((total, item) => {
    if (typeof total === 'bigint' && typeof item === 'bigint') return total + item;
    if (typeof total === 'number' && typeof item === 'number') return total + item;
    if (total instanceof Uint && item instanceof Uint) return new Uint(total.value + item.value);
    if (total instanceof Duration && item instanceof Duration) return new Duration(total.nanos + item.nanos);
    throw new CelRuntimeError('no such overload');
  }, zero);
}

const lists: Overload[] = [
  ...comparable.flatMap((type) => [
    overload(`list(${type}).isSorted() bool`, (list: CelValue[]) =>
      list.every((item, at) => at === 0 || compareValues(list[at - 1] as CelValue, item) <= 0),
    ),
    overload(`list(${type}).min() ${type}`, (list: CelValue[]) => extreme(list, -1)),
    overload(`list(${type}).max() ${type}`, (list: CelValue[]) => extreme(list, 1)),
  ]),
  overload('list(int).sum() int', (list: CelValue[]) => sum(list, 0n)),
  overload('list(uint).sum() uint', (list: CelValue[]) => sum(list, new Uint(0n))),
  overload('list(double).sum() double', (list: CelValue[]) => sum(list, 0)),
  overload('list(duration).sum() duration', (list: CelValue[]) => sum(list, new Duration(0n))),
  overload('list(A).indexOf(A) int', (list: CelValue[], item: CelValue) =>
    BigInt(list.findIndex((own) => equals(own, item))),
  ),
  overload('list(A).lastIndexOf(A) int', (list: CelValue[], item: CelValue) =>
    BigInt(list.findLastIndex((own) => equals(own, item))),
  ),
  ...['sets.contains', 'sets.intersects', 'sets.equivalent'].map((name) =>
    overload(`${name}(list(A), list(A)) bool`, (a: CelValue[], b: CelValue[]) => {
      const within = (items: CelValue[], all: CelValue[]): boolean =>
        items.every((item) => all.some((other) => equals(item, other)));
      if (name === 'sets.contains') return within(b, a);
      if (name === 'sets.intersects') return a.some((item) => b.some((other) => equals(item, other)));
      return within(a, b) && within(b, a);
    }),
  ),
];

export const textFunctions: readonly Overload[] = [...strings, ...times, ...lists];
