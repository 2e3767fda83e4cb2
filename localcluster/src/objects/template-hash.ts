/**
 * A short stable name for the content of a pod template. Deployments put it into labels and names, StatefulSets into
 * ControllerRevision names; only equality matters, so any good hash serves.
 */

/** The letters that generated names use: no vowels and no look-alikes, so no words appear by accident. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

export function templateHash(content: unknown, collisions = 0): string {
  let hash = 0x811c9dc5;
  for (const char of canonicalJson(content) + (collisions === 0 ? '' : `#${collisions}`)) {
    hash ^= char.codePointAt(0) ?? 0;
    hash = Math.imul(hash, 0x01000193) >>> 0;
  }
  return Array.from(String(hash), (digit) => alphabet[Number(digit)]).join('');
}

/** JSON with sorted keys: equal content gives equal text whatever the order it arrived in. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
      .filter(([, entry]) => entry !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonicalJson(entry)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}
