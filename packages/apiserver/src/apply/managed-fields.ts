/**
 * The managedFields list as a table of managers, and back.
 *
 * A manager is told from another by its name, operation and subresource, and for updates by its API version too:
 * one applier has one entry whatever version it applies in.
 */
import { isObject, type Json, type JsonObject } from '../schema/schema.ts';
import { FieldSet } from './field-set.ts';

export type Operation = 'Apply' | 'Update';

export interface ManagerId {
  readonly manager: string;
  readonly operation: Operation;
  readonly apiVersion: string;
  readonly subresource: string;
}

export interface Manager extends ManagerId {
  readonly fields: FieldSet;
  /** When the manager last changed something; absent for one that only came to share what was there. */
  readonly time: string | undefined;
}

export type Managers = ReadonlyMap<string, Manager>;

export function managerKey(id: ManagerId): string {
  const version = id.operation === 'Apply' ? '' : id.apiVersion;
  return JSON.stringify([id.manager, id.operation, version, id.subresource]);
}

export class ManagedFieldsError extends Error {
  override readonly name = 'ManagedFieldsError';
}

/** Throws a ManagedFieldsError for entries that cannot be understood. */
export function decodeManagers(entries: Json | undefined): Map<string, Manager> {
  const managers = new Map<string, Manager>();
  if (!Array.isArray(entries)) return managers;
  for (const entry of entries) {
    if (!isObject(entry)) throw new ManagedFieldsError('an entry of managedFields is not an object');
    const { manager = '', operation, apiVersion = '', subresource = '', fieldsType, fieldsV1, time } = entry;
    if (operation !== 'Apply' && operation !== 'Update')
      throw new ManagedFieldsError(`operation is \`${text(operation)}\`, not Apply or Update`);
    if (fieldsType !== 'FieldsV1')
      throw new ManagedFieldsError(`fieldsType is \`${text(fieldsType)}\`, not FieldsV1`);
    const decoded: Manager = {
      manager: text(manager),
      operation,
      apiVersion: text(apiVersion),
      subresource: text(subresource),
      fields: FieldSet.fromFieldsV1(fieldsV1),
      time: typeof time === 'string' ? time : undefined,
    };
    managers.set(managerKey(decoded), decoded);
  }
  return managers;
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Appliers first, then by time (to the second), name, version and subresource. */
export function encodeManagers(managers: Managers): JsonObject[] {
  return [...managers.values()].toSorted(byPrecedence).map((manager) => {
    const entry: JsonObject = {
      manager: manager.manager,
      operation: manager.operation,
      apiVersion: manager.apiVersion,
    };
    if (manager.time !== undefined) entry.time = manager.time;
    entry.fieldsType = 'FieldsV1';
    entry.fieldsV1 = manager.fields.toFieldsV1();
    if (manager.subresource !== '') entry.subresource = manager.subresource;
    return entry;
  });
}

function byPrecedence(a: Manager, b: Manager): number {
  return (
    order(a.operation, b.operation) ||
    seconds(a.time) - seconds(b.time) ||
    order(a.manager, b.manager) ||
    order(a.apiVersion, b.apiVersion) ||
    order(a.subresource, b.subresource)
  );
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function seconds(time: string | undefined): number {
  return time === undefined ? 0 : Math.floor(Date.parse(time) / 1000);
}

/** The object with its managers written into metadata; no list if there are no managers. */
export function withManagers(object: JsonObject, managers: Managers): JsonObject {
  const { managedFields: _, ...metadata } = isObject(object.metadata) ? object.metadata : {};
  const entries = encodeManagers(managers);
  return {
    ...object,
    metadata: entries.length > 0 ? { ...metadata, managedFields: entries } : metadata,
  };
}

export function withoutManagers(object: JsonObject): JsonObject {
  if (!isObject(object.metadata) || !('managedFields' in object.metadata)) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

export function managedFieldsOf(object: JsonObject): Json | undefined {
  return isObject(object.metadata) ? object.metadata.managedFields : undefined;
}

/** Equal but for the times in managedFields: such a write changes nothing and is not made. */
export function stripTimes(object: JsonObject): JsonObject {
  const entries = managedFieldsOf(object);
  if (!Array.isArray(entries)) return object;
  const managedFields = entries.map((entry) => {
    if (!isObject(entry)) return entry;
    const { time: _, ...rest } = entry;
    return rest;
  });
  return { ...object, metadata: { ...(object.metadata as JsonObject), managedFields } };
}

/** Bounds the list of updaters: the oldest are folded into one entry per version. Appliers are never folded. */
const mostUpdaters = 10;
const ancient = 'ancient-changes';

export function capManagers(managers: Managers): Managers {
  const updaters = [...managers.entries()].filter(([, manager]) => manager.operation === 'Update');
  if (updaters.length <= mostUpdaters) return managers;
  const capped = new Map(managers);
  const oldestFirst = updaters
    .filter(([, manager]) => manager.manager !== ancient)
    .toSorted(([, a], [, b]) => (a.time ?? '').localeCompare(b.time ?? ''));
  let count = updaters.length;
  for (const [key, manager] of oldestFirst) {
    if (count <= mostUpdaters) break;
    const bucket: Manager = { ...manager, manager: ancient, subresource: '' };
    const bucketKey = managerKey(bucket);
    const before = capped.get(bucketKey);
    capped.delete(key);
    capped.set(bucketKey, before ? { ...bucket, fields: before.fields.union(manager.fields) } : bucket);
    if (before) count -= 1;
  }
  return capped;
}
