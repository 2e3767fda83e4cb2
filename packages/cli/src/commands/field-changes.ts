/** Which fields of an object differ, by path. What the server keeps itself is left out, values of keys are never shown. Pure. */
export interface FieldChange {
  readonly path: string;
  readonly from: unknown;
  readonly to: unknown;
}

const ofServer = new Set(['managedFields', 'resourceVersion', 'generation', 'creationTimestamp', 'uid']);
const applied = 'kubectl.kubernetes.io/last-applied-configuration';

export function fieldChanges(before: object, after: object): readonly FieldChange[] {
  const { status: _old, ...from } = before as Record<string, unknown>;
  const { status: _new, ...to } = after as Record<string, unknown>;
  return compare(from, to, []);
}

function compare(from: unknown, to: unknown, path: readonly string[]): FieldChange[] {
  if (JSON.stringify(from) === JSON.stringify(to)) return [];
  if (isRecord(from) && isRecord(to)) {
    const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])].toSorted();
    return keys
      .filter((key) => !(path[0] === 'metadata' && path.length === 1 && ofServer.has(key)) && key !== applied)
      .flatMap((key) => compare(from[key], to[key], [...path, key]));
  }
  return [{ path: path.join('.'), from, to }];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
