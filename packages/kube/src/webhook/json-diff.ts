/** The JSON patch between two values. Lists are replaced as a whole: short, and easy to read in audit logs. */
import type { JsonPatch } from '../client/options.ts';

export function jsonDiff(before: unknown, after: unknown, path = ''): JsonPatch {
  if (!isMap(before) || !isMap(after))
    return same(before, after) ? [] : [{ op: 'replace', path, value: after }];
  const patch: JsonPatch[number][] = [];
  for (const name of Object.keys(before))
    if (!Object.hasOwn(after, name) || after[name] === undefined)
      patch.push({ op: 'remove', path: `${path}/${escape(name)}` });
  for (const [name, value] of Object.entries(after)) {
    if (value === undefined) continue;
    const at = `${path}/${escape(name)}`;
    if (Object.hasOwn(before, name)) patch.push(...jsonDiff(before[name], value, at));
    else patch.push({ op: 'add', path: at, value });
  }
  return patch;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function same(left: unknown, right: unknown): boolean {
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item, at) => same(item, right[at]));
  if (isMap(left) && isMap(right)) {
    const names = Object.keys(left);
    return (
      names.length === Object.keys(right).length &&
      names.every((name) => Object.hasOwn(right, name) && same(left[name], right[name]))
    );
  }
  return left === right;
}

function escape(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
