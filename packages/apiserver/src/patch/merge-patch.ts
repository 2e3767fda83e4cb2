/** JSON merge patch (RFC 7386): null removes, objects merge, everything else replaces. */
import { clone, isObject } from '../api/json.ts';

export function mergePatch(target: unknown, patch: unknown): unknown {
  if (Array.isArray(patch)) return patch.map(withoutNulls);
  if (!isObject(patch)) return clone(patch);
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  for (const key of Object.keys(result)) if (!(key in patch)) result[key] = clone(result[key]);
  return result;
}

/** An item of a list is taken as it is, but for keys that are null. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return clone(value);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== null)
      .map(([key, item]) => [key, withoutNulls(item)]),
  );
}
