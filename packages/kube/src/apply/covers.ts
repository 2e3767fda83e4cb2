/** Whether a live object already matches an intent in the fields that the intent sets. Pure. */

/**
 * Objects may have more fields than the intent (defaults, other managers). Lists must have the same length and order: the owner of
 * an extra element is not known here. In case of doubt it returns false, and the server decides.
 */
export function covers(live: unknown, intent: unknown): boolean {
  if (live === intent) return true;
  if (Array.isArray(intent)) {
    if (!Array.isArray(live) || live.length !== intent.length) return false;
    return intent.every((item, at) => covers(live[at], item));
  }
  if (typeof intent !== 'object' || intent === null || typeof live !== 'object' || live === null)
    return false;
  if (Array.isArray(live)) return false;
  return Object.entries(intent).every(([name, value]) =>
    covers((live as Record<string, unknown>)[name], value),
  );
}

/** The intent without its null and undefined fields: an applied null would claim ownership of the field. */
export function withoutUnset<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item: unknown) => withoutUnset(item)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const kept: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value))
    if (inner !== undefined && inner !== null) kept[name] = withoutUnset(inner as unknown);
  return kept as T;
}
