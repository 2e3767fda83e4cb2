/** Whether a live object already is what an intent says, in the fields that the intent names. Pure. */

/**
 * Objects may hold more than is wanted (defaults, other managers); lists must be of the same length and order, since who
 * owns an extra element cannot be told from here. When in doubt the answer is no, and the server decides.
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

/** The intent without what it leaves unset: to apply a null would be to claim the field. */
export function withoutUnset<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item: unknown) => withoutUnset(item)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const kept: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value))
    if (inner !== undefined && inner !== null) kept[name] = withoutUnset(inner as unknown);
  return kept as T;
}
