/**
 * Transfers ownership of fields from another field manager to this one, in an object's `managedFields`. Server-side apply removes only
 * fields that the same manager applied before. Without the transfer, fields that a previous operator wrote by create, update or patch
 * would never be removed: a selector that matches nothing, a sidecar that no intent contains. Pure.
 */

interface ManagedEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
}

/**
 * The list with the entries of `predecessors` changed to `manager`. Undefined if they own nothing, or if `manager` has applied to this
 * object before: then they wrote later, on purpose. Entries of other managers are unchanged.
 */
export function inheritFields(
  managedFields: readonly unknown[],
  predecessors: ReadonlySet<string>,
  manager: string,
): readonly unknown[] | undefined {
  const entries = managedFields as readonly ManagedEntry[];
  // The status is a subresource and never part of an intent.
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
