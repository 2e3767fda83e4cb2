/**
 * Who owns what after a write, by the rules of server-side apply. Pure: no clock, no store.
 */
import { type Json, jsonEqual, type Schema } from '../schema/schema.ts';
import { type Comparison, compare } from './compare.ts';
import { FieldSet } from './field-set.ts';
import type { Manager, Managers } from './managed-fields.ts';
import { merge, removeItems } from './merge.ts';
import { toFieldSet, withNamedFields } from './to-field-set.ts';

export interface Conflict {
  readonly manager: Manager;
  readonly fields: FieldSet;
}

/** Fields that the server sets: they have no owner. */
const unowned = FieldSet.of(
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((field) => ['f:metadata', `f:${field}`]),
);

/** After a plain write: the writer owns what it changed or added, and everyone else loses that. */
export function ownersAfterUpdate(
  schema: Schema,
  live: Json,
  next: Json,
  managers: Managers,
  writer: Manager,
  key: string,
  ignored: FieldSet,
): Map<string, Manager> {
  const changes = without(compare(schema, live, next), ignored);
  const after = takeFrom(managers, changes, undefined);
  const taken = changes.modified.union(changes.added).difference(unowned);
  const before = after.get(key);
  if (taken.empty) return after;
  const kept = before ? before.fields : new FieldSet();
  after.set(key, { ...writer, fields: taken.union(kept) });
  return after;
}

export interface ApplyOutcome {
  /** The merged value, or undefined when applying changed nothing. */
  readonly value: Json | undefined;
  readonly managers: Map<string, Manager>;
  readonly conflicts: readonly Conflict[];
}

export function ownersAfterApply(
  schema: Schema,
  live: Json,
  applied: Json,
  managers: Managers,
  applier: Manager,
  key: string,
  ignored: FieldSet,
  force: boolean,
): ApplyOutcome {
  const last = managers.get(key);
  const set = toFieldSet(schema, applied).withoutSubtrees(ignored);
  const claimed = new Map(managers);
  claimed.set(key, { ...applier, time: last?.time, fields: set });
  const merged = merge(schema, live, applied);
  const value = prune(schema, merged, claimed, last?.fields);
  const changes = without(compare(schema, live, value), ignored);
  const unchanged = jsonEqual(live, value);
  const conflicts = force ? [] : conflictsOf(claimed, changes, key);
  const owners = takeFrom(claimed, changes, key);
  const own = owners.get(key);
  if (own) {
    const fields = own.fields.difference(unowned);
    if (fields.empty) owners.delete(key);
    else owners.set(key, { ...own, fields, time: unchanged ? own.time : applier.time });
  }
  return { value: unchanged ? undefined : value, managers: owners, conflicts };
}

function without({ added, modified, removed }: Comparison, ignored: FieldSet): Comparison {
  return {
    added: added.withoutSubtrees(ignored),
    modified: modified.withoutSubtrees(ignored),
    removed: removed.withoutSubtrees(ignored),
  };
}

function conflictsOf(managers: Managers, changes: Comparison, except: string): Conflict[] {
  const touched = changes.modified.union(changes.added);
  const conflicts: Conflict[] = [];
  for (const [key, manager] of managers) {
    if (key === except) continue;
    const fields = manager.fields.intersection(touched);
    if (!fields.empty) conflicts.push({ manager, fields });
  }
  return conflicts;
}

/** Every manager but `except` without what was changed or removed; who owns nothing is gone. */
function takeFrom(managers: Managers, changes: Comparison, except: string | undefined): Map<string, Manager> {
  const gone = changes.modified.union(changes.added).union(changes.removed);
  const after = new Map<string, Manager>();
  for (const [key, manager] of managers) {
    const fields = key === except ? manager.fields : manager.fields.difference(gone);
    if (!fields.empty) after.set(key, fields === manager.fields ? manager : { ...manager, fields });
  }
  return after;
}

/** Removes fields that the applier owned before and omits now, unless another manager owns them too. */
function prune(schema: Schema, merged: Json, managers: Managers, last: FieldSet | undefined): Json {
  if (last === undefined || last.empty) return merged;
  const before = withNamedFields(last, schema);
  const bare = removeItems(schema, merged, before);
  const owned = [...managers.values()].reduce((all, manager) => all.union(manager.fields), new FieldSet());
  const mergedFields = withNamedFields(toFieldSet(schema, merged), schema);
  const bareFields = withNamedFields(toFieldSet(schema, bare), schema);
  const kept = removeItems(
    schema,
    merged,
    mergedFields.difference(bareFields.union(withNamedFields(owned, schema))),
  );
  // Only what the applier itself once owned may go.
  const keptFields = withNamedFields(toFieldSet(schema, kept), schema);
  return removeItems(schema, merged, mergedFields.difference(keptFields).intersection(before));
}
