/**
 * Values while an expression runs. int is bigint, double is number; lists are arrays, maps and objects are Maps;
 * the rest are the classes below.
 */
import { Quantity } from '@slurm-operator/kubernetes-values';
import { CelRuntimeError } from './errors.ts';
import { Cidr, Ip } from './ip.ts';
import { Semver } from './semver.ts';

export class Uint {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

/** Nanoseconds. */
export class Duration {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** Nanoseconds since the epoch. */
export class Timestamp {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class Optional {
  readonly value: CelValue | undefined;
  constructor(value: CelValue | undefined) {
    this.value = value;
  }
}

export class TypeValue {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A named string format such as dns1123Label: its validate answers the faults. */
export class Format {
  readonly name: string;
  readonly faults: (text: string) => readonly string[];
  constructor(name: string, faults: (text: string) => readonly string[]) {
    this.name = name;
    this.faults = faults;
  }
}

export type CelValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | Duration
  | Timestamp
  | Optional
  | TypeValue
  | Format
  | Quantity
  | Ip
  | Cidr
  | Semver
  | URL
  | CelValue[]
  | Map<CelValue, CelValue>;

/** Lists of type set compare without order, lists of type map by their keys. */
const unordered = new WeakMap<CelValue[], readonly string[]>();

export function markUnordered(list: CelValue[], keys: readonly string[]): CelValue[] {
  unordered.set(list, keys);
  return list;
}

export function typeName(value: CelValue): string {
  if (value === null) return 'null_type';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    case 'string':
      return 'string';
    default:
  }
  if (Array.isArray(value)) return 'list';
  if (value instanceof Map) return 'map';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof Uint) return 'uint';
  if (value instanceof Duration) return 'google.protobuf.Duration';
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp';
  if (value instanceof Optional) return 'optional_type';
  if (value instanceof TypeValue) return 'type';
  if (value instanceof Quantity) return 'kubernetes.Quantity';
  if (value instanceof Ip) return 'net.IP';
  if (value instanceof Cidr) return 'net.CIDR';
  if (value instanceof Semver) return 'kubernetes.Semver';
  if (value instanceof Format) return 'kubernetes.NamedFormat';
  return 'kubernetes.URL';
}

function asNumber(value: CelValue): number | bigint | undefined {
  if (typeof value === 'bigint' || typeof value === 'number') return value;
  return value instanceof Uint ? value.value : undefined;
}

export function equals(a: CelValue, b: CelValue): boolean {
  if (a === b) return true;
  const x = asNumber(a);
  const y = asNumber(b);
  // biome-ignore lint/suspicious/noDoubleEquals: int and double are equal when their values are
  if (x !== undefined || y !== undefined) return x !== undefined && y !== undefined && x == y; // oxlint-disable-line eqeqeq
  if (Array.isArray(a)) return Array.isArray(b) && listsEqual(a, b);
  if (a instanceof Map) return b instanceof Map && mapsEqual(a, b);
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos;
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name;
  if (a instanceof Quantity) return b instanceof Quantity && a.compare(b) === 0;
  if (a instanceof Semver) return b instanceof Semver && a.compare(b) === 0;
  if (a instanceof Ip) return b instanceof Ip && a.text === b.text;
  if (a instanceof Cidr) return b instanceof Cidr && a.text === b.text;
  if (a instanceof URL) return b instanceof URL && a.href === b.href;
  if (a instanceof Optional && b instanceof Optional)
    return a.value === undefined || b.value === undefined ? a.value === b.value : equals(a.value, b.value);
  return false;
}

function listsEqual(a: readonly CelValue[], b: readonly CelValue[]): boolean {
  if (a.length !== b.length) return false;
  const keys = unordered.get(a as CelValue[]) ?? unordered.get(b as CelValue[]);
  if (keys === undefined) return a.every((item, index) => equals(item, b[index] as CelValue));
  return a.every((item) => b.some((other) => equals(item, other)));
}

function mapsEqual(a: Map<CelValue, CelValue>, b: Map<CelValue, CelValue>): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) {
    const other = mapGet(b, key);
    if (other === undefined || !equals(value, other)) return false;
  }
  return true;
}

/** Keys are strings nearly always; numbers of another type are the same key when equal. */
export function mapGet(map: Map<CelValue, CelValue>, key: CelValue): CelValue | undefined {
  const direct = map.get(key);
  if (direct !== undefined) return direct;
  if (typeof key === 'string') return undefined;
  for (const [own, value] of map) if (equals(own, key)) return value;
  return undefined;
}

/** Lists of type map or set concatenate by key: an item that is there already is replaced in its place. */
export function concat(a: CelValue[], b: readonly CelValue[]): CelValue[] {
  const keys = unordered.get(a);
  if (keys === undefined) return [...a, ...b];
  const out = [...a];
  for (const item of b) {
    const at = out.findIndex((own) => sameKey(own, item, keys));
    if (at === -1) out.push(item);
    else out[at] = item;
  }
  return markUnordered(out, keys);
}

function sameKey(a: CelValue, b: CelValue, keys: readonly string[]): boolean {
  if (keys.length === 0) return equals(a, b);
  if (!(a instanceof Map) || !(b instanceof Map)) return false;
  return keys.every((key) => equals(a.get(key) ?? null, b.get(key) ?? null));
}

export function compareValues(a: CelValue, b: CelValue): number {
  const x = asNumber(a);
  const y = asNumber(b);
  if (x !== undefined && y !== undefined) return x < y ? -1 : x > y ? 1 : 0;
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  if (a instanceof Duration && b instanceof Duration)
    return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
  if (a instanceof Timestamp && b instanceof Timestamp)
    return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
  throw new CelRuntimeError('no such overload');
}

/** By code point, as UTF-8 sorts. */
function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** The language counts strings in code points, not in UTF-16 units. */
export function codePoints(text: string): string[] {
  return Array.from(text);
}
