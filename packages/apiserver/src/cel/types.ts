/**
 * Types of expressions. A type from a schema carries the largest size its values can have (`max`), which is what cost
 * estimates are made of.
 */

export type Simple =
  | 'int'
  | 'uint'
  | 'double'
  | 'bool'
  | 'string'
  | 'bytes'
  | 'null'
  | 'dyn'
  | 'duration'
  | 'timestamp'
  | 'type';

export type CelType =
  | { readonly kind: Simple; readonly max?: number }
  | { readonly kind: 'list'; readonly item: CelType; readonly max?: number }
  | { readonly kind: 'map'; readonly key: CelType; readonly value: CelType; readonly max?: number }
  | {
      readonly kind: 'object';
      readonly name: string;
      readonly fields: ReadonlyMap<string, CelType>;
      readonly max?: number;
    }
  | { readonly kind: 'optional'; readonly of: CelType; readonly max?: number }
  | { readonly kind: 'opaque'; readonly name: string; readonly max?: number }
  | { readonly kind: 'param'; readonly name: string; readonly max?: number };

export const dyn: CelType = { kind: 'dyn' };
export const int: CelType = { kind: 'int' };
export const uint: CelType = { kind: 'uint' };
export const double: CelType = { kind: 'double' };
export const bool: CelType = { kind: 'bool' };
export const string: CelType = { kind: 'string' };
export const bytes: CelType = { kind: 'bytes' };
export const nullType: CelType = { kind: 'null' };

export function listOf(item: CelType, max?: number): CelType {
  return max === undefined ? { kind: 'list', item } : { kind: 'list', item, max };
}

export function mapOf(key: CelType, value: CelType, max?: number): CelType {
  return max === undefined ? { kind: 'map', key, value } : { kind: 'map', key, value, max };
}

export function optionalOf(of: CelType): CelType {
  return { kind: 'optional', of };
}

export function showType(type: CelType): string {
  switch (type.kind) {
    case 'list':
      return `list(${showType(type.item)})`;
    case 'map':
      return `map(${showType(type.key)}, ${showType(type.value)})`;
    case 'optional':
      return `optional_type(${showType(type.of)})`;
    case 'object':
    case 'opaque':
    case 'param':
      return type.name;
    case 'duration':
      return 'google.protobuf.Duration';
    case 'timestamp':
      return 'google.protobuf.Timestamp';
    default:
      return type.kind;
  }
}

/** What type parameters stand for, found while arguments are matched. */
export type Bindings = Map<string, CelType>;

/** Whether a value of type `given` may stand where `wanted` is expected; binds type parameters on the way. */
export function assignable(wanted: CelType, given: CelType, bindings: Bindings): boolean {
  if (wanted.kind === 'param') {
    const bound = bindings.get(wanted.name);
    if (bound === undefined || bound.kind === 'dyn') {
      bindings.set(wanted.name, given);
      return true;
    }
    if (assignable(bound, given, bindings)) return true;
    // An empty list or map literal says less than what comes after it.
    if (assignable(given, bound, new Map())) {
      bindings.set(wanted.name, given);
      return true;
    }
    return false;
  }
  if (wanted.kind === 'dyn' || given.kind === 'dyn' || given.kind === 'param') return true;
  if (given.kind === 'null')
    return ['null', 'object', 'duration', 'timestamp', 'optional', 'opaque'].includes(wanted.kind);
  switch (wanted.kind) {
    case 'list':
      return given.kind === 'list' && assignable(wanted.item, given.item, bindings);
    case 'map':
      return (
        given.kind === 'map' &&
        assignable(wanted.key, given.key, bindings) &&
        assignable(wanted.value, given.value, bindings)
      );
    case 'optional':
      return given.kind === 'optional' && assignable(wanted.of, given.of, bindings);
    case 'object':
    case 'opaque':
      return given.kind === wanted.kind && given.name === wanted.name;
    default:
      return given.kind === wanted.kind;
  }
}

/** A type with its parameters replaced by what they stand for. */
export function substitute(type: CelType, bindings: Bindings): CelType {
  switch (type.kind) {
    case 'param':
      return bindings.get(type.name) ?? dyn;
    case 'list':
      return { ...type, item: substitute(type.item, bindings) };
    case 'map':
      return { ...type, key: substitute(type.key, bindings), value: substitute(type.value, bindings) };
    case 'optional':
      return { ...type, of: substitute(type.of, bindings) };
    default:
      return type;
  }
}
