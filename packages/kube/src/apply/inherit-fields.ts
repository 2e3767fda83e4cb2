/**
 * Hands the fields that another program wrote over to us, in an object's `managedFields`. Server-side apply takes away only
 * what its own manager once applied; what a predecessor wrote by create, update or patch would stay for ever beside our own
 * fields: a selector that matches nothing any more, a sidecar that nobody asks for. Pure.
 */

interface ManagedEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
}

/**
 * The list with the predecessors' entries as ours; undefined when they own nothing, or when we have applied to this object before:
 * then what they wrote since is somebody's present wish, not a legacy. What others own stays theirs.
 */
export function inheritFields(
  managedFields: readonly unknown[],
  predecessors: ReadonlySet<string>,
  manager: string,
): readonly unknown[] | undefined {
  const entries = managedFields as readonly ManagedEntry[];
  // The status belongs to another writer; it is never part of an intent.
  const isTheirs = (entry: ManagedEntry) =>
    predecessors.has(entry.manager ?? '') && entry.operation === 'Update' && !entry.subresource;
  const theirs = entries.filter(isTheirs);
  const [first] = theirs;
  if (first === undefined) return undefined;
  if (entries.some((entry) => entry.manager === manager && entry.operation === 'Apply')) return undefined;
  const fieldsV1 = theirs.reduce<Readonly<Record<string, unknown>>>(
    (all, { fieldsV1: fields = {} }) => union(all, fields),
    {},
  );
  const others = entries.filter((entry) => !isTheirs(entry));
  return [...others, { ...first, manager, operation: 'Apply', fieldsV1 }];
}

/** Sets of fields are nested objects whose leaves are empty. */
function union(
  a: Readonly<Record<string, unknown>>,
  b: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const all: Record<string, unknown> = { ...a };
  for (const [field, inner] of Object.entries(b))
    all[field] = union((all[field] ?? {}) as Record<string, unknown>, inner as Record<string, unknown>);
  return all;
}
