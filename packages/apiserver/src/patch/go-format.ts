/** As Go prints a value that came from JSON: `map[a:1 b:[x y]]`. */
import { isObject, stringifyExact } from '../api/json.ts';

export function goFormat(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goFormat).join(' ')}]`;
  if (!isObject(value))
    return typeof value === 'string' ? value : value === null ? '<nil>' : stringifyExact(value);
  const keys = Object.keys(value).toSorted();
  return `map[${keys.map((key) => `${key}:${goFormat(value[key])}`).join(' ')}]`;
}
