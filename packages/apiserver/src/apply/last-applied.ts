/**
 * kubectl apply without --server-side keeps what it applied in an annotation. When kubectl then applies server-side, fields
 * that are as the annotation says may be taken without conflict, and the annotation follows what is applied.
 */
import { stringifyExact } from '../api/json.ts';
import { isObject, type Json, type JsonObject, type Schema } from '../schema/schema.ts';
import { compare } from './compare.ts';
import type { Conflict } from './owners.ts';
import { toFieldSet } from './to-field-set.ts';

export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** Any other manager opts out. */
export const kubectl = 'kubectl';

const annotationLimit = 256 * 1024;

export function lastAppliedOf(object: JsonObject): string {
  const { annotations } = isObject(object.metadata) ? object.metadata : {};
  const value = isObject(annotations) ? annotations[lastAppliedAnnotation] : undefined;
  return typeof value === 'string' ? value : '';
}

/** The conflicts that are left when fields still as they were applied client-side may be taken. */
export function conflictsBeyondLastApplied(
  schema: Schema,
  live: JsonObject,
  conflicts: readonly Conflict[],
): Conflict[] {
  const applied = parsed(lastAppliedOf(live));
  if (applied === undefined) return [...conflicts];
  const { added, modified, removed } = compare(schema, applied, live);
  const allowed = toFieldSet(schema, applied).difference(added.union(modified).union(removed));
  return conflicts
    .map(({ manager, fields }) => ({ manager, fields: fields.difference(allowed) }))
    .filter(({ fields }) => !fields.empty);
}

/** The object with an annotation that says what was applied now, if it had one before. */
export function withLastApplied(object: JsonObject, configuration: JsonObject): JsonObject {
  if (lastAppliedOf(object) === '') return object;
  const text = `${stringifyExact(sorted(withoutOwnAnnotation(configuration)))}\n`;
  const metadata = object.metadata as JsonObject;
  const { [lastAppliedAnnotation]: _, ...others } = metadata.annotations as JsonObject;
  const annotations =
    Buffer.byteLength(text) > annotationLimit ? others : { ...others, [lastAppliedAnnotation]: text };
  return { ...object, metadata: { ...metadata, annotations } };
}

function withoutOwnAnnotation(configuration: JsonObject): JsonObject {
  const { metadata } = configuration;
  if (!isObject(metadata) || !isObject(metadata.annotations)) return configuration;
  const { [lastAppliedAnnotation]: _, ...annotations } = metadata.annotations;
  return { ...configuration, metadata: { ...metadata, annotations } };
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((key) => [key, sorted(value[key] ?? null)]),
  );
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
