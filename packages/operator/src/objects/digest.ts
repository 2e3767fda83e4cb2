/** A short name for content: the same content is the same text, in whatever order it was written. */
import { hash } from 'node:crypto';

export function digestOf(value: unknown): string {
  return hash('sha256', stableJson(value));
}

function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
