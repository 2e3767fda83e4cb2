/** Values of the query as the real server converts them: anything it cannot read is a 400 in the words of Go. */
import { badRequest } from './errors.ts';

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
