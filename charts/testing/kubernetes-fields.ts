/** The fields of Kubernetes' types by minor version, and which fields of an object a version does not know. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface FieldTable {
  /** The minor versions that were recorded. */
  readonly minors: readonly number[];
  /** `apiVersion/kind` → type. */
  readonly roots: Readonly<Record<string, string>>;
  /** Type → field → its type, the first minor version that has it, and the first that has it no more. */
  readonly types: Readonly<Record<string, Readonly<Record<string, readonly [string, number, number?]>>>>;
}

export const recordedFields = (): FieldTable =>
  JSON.parse(
    readFileSync(join(import.meta.dirname, '../testdata/kubernetes-fields.json'), 'utf8'),
  ) as FieldTable;

/** All minor versions that the charts support; one without a record counts as the recorded one before it. */
export const supportedMinors = [30, 31, 32, 33, 34, 35, 36] as const;

/** Paths of an object that Kubernetes 1.`minor` does not know. Undefined: the kind is none of Kubernetes' own. */
export function unknownFields(
  table: FieldTable,
  object: { readonly apiVersion: string; readonly kind: string },
  minor: number,
): string[] | undefined {
  const root = table.roots[`${object.apiVersion}/${object.kind}`];
  return root === undefined ? undefined : unknownIn(table, root, object, minor, object.kind);
}

/** The same for a part of an object, such as a pod template of a custom resource. */
export function unknownIn(
  table: FieldTable,
  type: string,
  value: unknown,
  minor: number,
  path: string,
): string[] {
  const fields = table.types[type];
  // Texts, numbers, maps and free-form JSON have no fields of their own.
  if (fields === undefined || typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value))
    return value.flatMap((entry, index) => unknownIn(table, type, entry, minor, `${path}[${index}]`));
  return Object.entries(value).flatMap(([name, inner]) => {
    const field = fields[name];
    const at = `${path}.${name}`;
    if (field === undefined || field[1] > minor || (field[2] ?? Infinity) <= minor) return [at];
    return isMapOf(table, field[0], inner)
      ? Object.entries(inner as object).flatMap(([key, entry]) =>
          unknownIn(table, field[0], entry, minor, `${at}[${key}]`),
        )
      : unknownIn(table, field[0], inner, minor, at);
  });
}

/** Properties of a schema are the one map of objects in these kinds. */
function isMapOf(table: FieldTable, type: string, value: unknown): boolean {
  return (
    type === 'V1JSONSchemaProps' &&
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).some((key) => table.types[type]?.[key] === undefined)
  );
}
