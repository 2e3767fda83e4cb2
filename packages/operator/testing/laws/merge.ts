/** The three ways in which Kubernetes merges a change into an object, as far as our reconcilers use them. Pure. */

export type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** RFC 7386: null removes, lists are replaced whole. */
export function merged(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Json = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch))
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  return result;
}

/** Lists that merge by a key of their elements. */
const mergeKeys: Readonly<Record<string, string>> = { conditions: 'type', ownerReferences: 'uid' };

export function strategicallyMerged(target: unknown, patch: unknown, field = ''): unknown {
  const key = mergeKeys[field];
  if (Array.isArray(patch) && key !== undefined) {
    const result = new Map(((target ?? []) as Json[]).map((item) => [item[key], item]));
    for (const item of patch as Json[])
      if (item['$patch'] === 'delete') result.delete(item[key]);
      else result.set(item[key], strategicallyMerged(result.get(item[key]), item) as Json);
    return [...result.values()];
  }
  if (!isObject(patch)) return patch;
  const result: Json = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch))
    if (value === null) delete result[name];
    else result[name] = strategicallyMerged(result[name], value, name);
  return result;
}

/** Server-side apply of one manager: what it applied before and leaves out now goes; lists are replaced whole. */
export function applied(target: unknown, before: unknown, intent: unknown): unknown {
  if (!isObject(intent)) return intent;
  const result: Json = isObject(target) ? { ...target } : {};
  if (isObject(before)) for (const name of Object.keys(before)) if (!(name in intent)) delete result[name];
  for (const [name, value] of Object.entries(intent))
    result[name] = applied(result[name], isObject(before) ? before[name] : undefined, value);
  return result;
}
