/**
 * Hostlists such as `rack[0-1]-n[001-128,200],login`. Pure functions with bounded results.
 *
 * Padding is kept (`[001-010]`), several brackets in one name are expanded left to right, and a compressed list is
 * canonical: sorted, without duplicates, one bracket at the trailing number of a name, as Slurm writes it.
 */
import { InvalidInput } from '../errors.ts';

/** Default maximum number of names in one list. */
const defaultLimit = 1_000_000;
/** Slurm refuses a range of more hosts. */
const maxRange = 65_536;
/** Longer numbers are not exact in JavaScript; they are treated as text. */
const maxDigits = 15;

export interface HostRange {
  readonly first: number;
  readonly last: number;
  /** Digits that numbers are padded to with zeros. */
  readonly width: number;
}

/** One comma-separated part: text and brackets in turn. */
export type HostPattern = readonly (string | readonly HostRange[])[];

/** The parts of a hostlist, not yet expanded. */
function parseHostlist(text: string): readonly HostPattern[] {
  return splitOutsideBrackets(text)
    .filter((part) => part !== '')
    .map((part) => parsePattern(part, text));
}

/** Every name of a hostlist, in order, duplicates included. */
export function expandHostlist(text: string, limit = defaultLimit): string[] {
  const names: string[] = [];
  for (const pattern of parseHostlist(text)) {
    const count = patternSize(pattern);
    if (names.length + count > limit)
      throw new InvalidInput(`the hostlist "${shorten(text)}" stands for more than ${limit} hosts`);
    for (const name of expandPattern(pattern)) names.push(name);
  }
  return names;
}

/** The shortest canonical hostlist for a set of names. */
export function compressHostlist(names: Iterable<string>): string {
  const groups = new Map<string, { prefix: string; width: number; numbers: number[] }>();
  const plain = new Set<string>();
  for (const name of new Set(names)) {
    if (!/^[^\s,[\]]+$/.test(name))
      throw new InvalidInput(`"${name}" is not a host name and cannot go into a hostlist`);
    const match = /^(.*?)(\d+)$/.exec(name);
    const digits = match?.[2] ?? '';
    if (match === null || digits.length > maxDigits) {
      plain.add(name);
      continue;
    }
    // Padded numbers can only share a range with numbers of the same length; unpadded ones with all unpadded ones.
    const prefix = match[1] ?? '';
    const width = digits.length > 1 && digits.startsWith('0') ? digits.length : 0;
    const key = `${prefix}\u0000${width}`;
    const group = groups.get(key) ?? { prefix, width, numbers: [] };
    group.numbers.push(Number(digits));
    groups.set(key, group);
  }
  adoptFullWidth(groups);
  const parts = [...plain].map((name) => ({ prefix: name, width: -1, text: name }));
  for (const { prefix, width, numbers } of groups.values()) {
    if (numbers.length > 0) parts.push({ prefix, width, text: prefix + bracket(numbers, width) });
  }
  return parts
    .toSorted((a, b) => (a.prefix === b.prefix ? a.width - b.width : a.prefix < b.prefix ? -1 : 1))
    .map((part) => part.text)
    .join(',');
}

type Groups = Map<string, { prefix: string; width: number; numbers: number[] }>;

/** `09` is padded and `10` is not, but `[09-10]` contains both: numbers with the width of a padded group join it. */
function adoptFullWidth(groups: Groups): void {
  for (const group of groups.values()) {
    if (group.width === 0) continue;
    const unpadded = groups.get(`${group.prefix}\u0000`.concat('0'));
    if (unpadded === undefined) continue;
    const fills = (number: number) => String(number).length === group.width;
    group.numbers.push(...unpadded.numbers.filter(fills));
    unpadded.numbers = unpadded.numbers.filter((number) => !fills(number));
  }
}

function bracket(numbers: readonly number[], width: number): string {
  const pad = (number: number) => String(number).padStart(width, '0');
  const sorted = numbers.toSorted((a, b) => a - b);
  const ranges: string[] = [];
  for (let at = 0; at < sorted.length; ) {
    const first = sorted[at] ?? 0;
    let last = first;
    for (at += 1; sorted[at] === last + 1 && last - first + 1 < maxRange; at += 1) last += 1;
    ranges.push(last === first ? pad(first) : `${pad(first)}-${pad(last)}`);
  }
  return ranges.length === 1 && sorted.length === 1 ? (ranges[0] ?? '') : `[${ranges.join(',')}]`;
}

function splitOutsideBrackets(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '[') depth += 1;
    if (character === ']') depth -= 1;
    if (depth < 0 || depth > 1) throw malformed(text, 'its brackets do not match');
    if (depth === 0 && character !== undefined && /[,\s]/.test(character)) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  if (depth !== 0) throw malformed(text, 'a bracket is not closed');
  parts.push(text.slice(from));
  return parts;
}

function parsePattern(part: string, whole: string): HostPattern {
  return part
    .split(/(\[[^\]]*\])/)
    .filter((piece) => piece !== '')
    .map((piece) =>
      piece.startsWith('[')
        ? piece
            .slice(1, -1)
            .split(',')
            .flatMap((range) => parseRange(range, whole))
        : piece,
    );
}

/** `7`, `1-9`, or `0-8/2` and `0-8:2` with a step, which users write but Slurm does not accept: never sent to it. */
function parseRange(text: string, whole: string): readonly HostRange[] {
  const match = /^(\d+)(?:-(\d+)(?:[/:](\d+))?)?$/.exec(text);
  if (match === null) throw malformed(whole, `"${text}" is not a range`);
  const [, low = '', high = low, stepText] = match;
  if (low.length > maxDigits || high.length > maxDigits)
    throw malformed(whole, `"${text}" has too many digits`);
  const first = Number(low);
  const last = Number(high);
  if (last < first) throw malformed(whole, `"${text}" runs backwards`);
  const width = low.length;
  if (stepText === undefined) return [{ first, last, width }];
  const step = Number(stepText);
  if (step < 1) throw malformed(whole, `the step in "${text}" must be at least 1`);
  if ((last - first) / step > defaultLimit) throw malformed(whole, `"${text}" is too long`);
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, at) => {
    const number = first + at * step;
    return { first: number, last: number, width };
  });
}

function patternSize(pattern: HostPattern): number {
  return pattern.reduce(
    (size, piece) =>
      typeof piece === 'string'
        ? size
        : size * piece.reduce((sum, { first, last }) => sum + last - first + 1, 0),
    1,
  );
}

function* expandPattern(pattern: HostPattern, prefix = ''): Generator<string> {
  const [piece, ...rest] = pattern;
  if (piece === undefined) {
    yield prefix;
  } else if (typeof piece === 'string') {
    yield* expandPattern(rest, prefix + piece);
  } else {
    for (const { first, last, width } of piece)
      for (let number = first; number <= last; number += 1)
        yield* expandPattern(rest, prefix + String(number).padStart(width, '0'));
  }
}

function malformed(text: string, why: string): InvalidInput {
  return new InvalidInput(`"${shorten(text)}" is not a hostlist: ${why}`);
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
