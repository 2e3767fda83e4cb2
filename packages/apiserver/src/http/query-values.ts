/** Values of the query as the real server converts them: anything it cannot read is a 400 in the words of Go. */
import { badRequest } from '../errors.ts';

/** Only "false" and "0" are false; any other value, the empty one too, is true. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/** 0 when it is not given. */
export function wholeNumber(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '';
  if (text === '') return 0;
  if (!/^[+-]?\d+$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  const value = BigInt(text);
  if (value >= 2n ** 63n || value < -(2n ** 63n))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`);
  return Number(value);
}

const units = ['ns', 'us', 'µs', 'μs', 'ms', 's', 'm', 'h'];

/** What Go says of a text that is no duration, or undefined. */
export function durationFault(text: string): string | undefined {
  const shown = JSON.stringify(text);
  let rest = text.replace(/^[+-]/, '');
  if (rest === '0') return undefined;
  if (rest === '') return `time: invalid duration ${shown}`;
  while (rest !== '') {
    const number = /^(?:\d+\.?\d*|\.\d+)/.exec(rest)?.[0];
    if (number === undefined) return `time: invalid duration ${shown}`;
    rest = rest.slice(number.length);
    const unit = /^[^\d.]+/.exec(rest)?.[0];
    if (unit === undefined) return `time: missing unit in duration ${shown}`;
    if (!units.includes(unit)) return `time: unknown unit ${JSON.stringify(unit)} in duration ${shown}`;
    rest = rest.slice(unit.length);
  }
  return undefined;
}
