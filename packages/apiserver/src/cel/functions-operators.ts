/** Arithmetic, comparison, membership, size and conversions: the functions of the language itself. */
import { parseDuration } from '@slurm-operator/kubernetes-values';
import { CelRuntimeError } from './errors.ts';
import { type Overload, overload } from './signature.ts';
import { durationText, parseTimestamp, timestampText } from './time.ts';
import {
  type CelValue,
  codePoints,
  compareValues,
  concat,
  Duration,
  equals,
  mapGet,
  Timestamp,
  TypeValue,
  typeName,
  Uint,
} from './values.ts';

function inRange(value: bigint): bigint {
  if (BigInt.asIntN(64, value) !== value)
    throw new CelRuntimeError('return error for overflow: integer overflow');
  return value;
}

function unsigned(value: bigint): Uint {
  if (value < 0n || BigInt.asUintN(64, value) !== value)
    throw new CelRuntimeError('return error for overflow: unsigned integer overflow');
  return new Uint(value);
}

function divisor(value: bigint, what: 'divide' | 'modulus'): bigint {
  if (value === 0n) throw new CelRuntimeError(what === 'divide' ? 'division by zero' : 'modulus by zero');
  return value;
}

const arithmetic: Overload[] = [
  overload('_+_(int, int) int', (a: bigint, b: bigint) => inRange(a + b)),
  overload('_-_(int, int) int', (a: bigint, b: bigint) => inRange(a - b)),
  overload('_*_(int, int) int', (a: bigint, b: bigint) => inRange(a * b)),
  overload('_/_(int, int) int', (a: bigint, b: bigint) => inRange(a / divisor(b, 'divide'))),
  overload('_%_(int, int) int', (a: bigint, b: bigint) => a % divisor(b, 'modulus')),
  overload('-_(int) int', (a: bigint) => inRange(-a)),
  overload('_+_(uint, uint) uint', (a: Uint, b: Uint) => unsigned(a.value + b.value)),
  overload('_-_(uint, uint) uint', (a: Uint, b: Uint) => unsigned(a.value - b.value)),
  overload('_*_(uint, uint) uint', (a: Uint, b: Uint) => unsigned(a.value * b.value)),
  overload('_/_(uint, uint) uint', (a: Uint, b: Uint) => unsigned(a.value / divisor(b.value, 'divide'))),
  overload('_%_(uint, uint) uint', (a: Uint, b: Uint) => unsigned(a.value % divisor(b.value, 'modulus'))),
  overload('_+_(double, double) double', (a: number, b: number) => a + b),
  overload('_-_(double, double) double', (a: number, b: number) => a - b),
  overload('_*_(double, double) double', (a: number, b: number) => a * b),
  overload('_/_(double, double) double', (a: number, b: number) => a / b),
  overload('-_(double) double', (a: number) => -a),
  overload('_+_(string, string) string', (a: string, b: string) => a + b),
  overload('_+_(bytes, bytes) bytes', (a: Uint8Array, b: Uint8Array) => Buffer.concat([a, b])),
  overload('_+_(list(A), list(A)) list(A)', (a: CelValue[], b: CelValue[]) => concat(a, b)),
  overload('_+_(duration, duration) duration', (a: Duration, b: Duration) => new Duration(a.nanos + b.nanos)),
  overload(
    '_+_(timestamp, duration) timestamp',
    (a: Timestamp, b: Duration) => new Timestamp(a.nanos + b.nanos),
  ),
  overload(
    '_+_(duration, timestamp) timestamp',
    (a: Duration, b: Timestamp) => new Timestamp(a.nanos + b.nanos),
  ),
  overload('_-_(duration, duration) duration', (a: Duration, b: Duration) => new Duration(a.nanos - b.nanos)),
  overload(
    '_-_(timestamp, duration) timestamp',
    (a: Timestamp, b: Duration) => new Timestamp(a.nanos - b.nanos),
  ),
  overload(
    '_-_(timestamp, timestamp) duration',
    (a: Timestamp, b: Timestamp) => new Duration(a.nanos - b.nanos),
  ),
];

const ordered = ['bool', 'int', 'uint', 'double', 'string', 'bytes', 'timestamp', 'duration'];
const numbers = ['int', 'uint', 'double'];

function relation(operator: string, holds: (order: number) => boolean): Overload[] {
  const run = (a: CelValue, b: CelValue): boolean => {
    if (Number.isNaN(a) || Number.isNaN(b)) return false;
    return holds(compareValues(a, b));
  };
  const same = ordered.map((type) => overload(`${operator}(${type}, ${type}) bool`, run));
  const mixed = numbers.flatMap((a) =>
    numbers.filter((b) => a !== b).map((b) => overload(`${operator}(${a}, ${b}) bool`, run)),
  );
  return [...same, ...mixed];
}

const comparison: Overload[] = [
  overload('_==_(A, A) bool', (a: CelValue, b: CelValue) => equals(a, b)),
  overload('_!=_(A, A) bool', (a: CelValue, b: CelValue) => !equals(a, b)),
  ...relation('_<_', (order) => order < 0),
  ...relation('_<=_', (order) => order <= 0),
  ...relation('_>_', (order) => order > 0),
  ...relation('_>=_', (order) => order >= 0),
  overload('!_(bool) bool', (a: boolean) => !a),
  overload('@in(A, list(A)) bool', (a: CelValue, list: CelValue[]) => list.some((item) => equals(a, item))),
  overload(
    '@in(A, map(A, B)) bool',
    (a: CelValue, map: Map<CelValue, CelValue>) => mapGet(map, a) !== undefined,
  ),
];

function sizeOf(value: CelValue): bigint {
  if (typeof value === 'string') return BigInt(codePoints(value).length);
  if (Array.isArray(value) || value instanceof Uint8Array) return BigInt(value.length);
  return BigInt((value as Map<CelValue, CelValue>).size);
}

const sizes: Overload[] = ['string', 'bytes', 'list(A)', 'map(A, B)'].flatMap((type) => [
  overload(`size(${type}) int`, sizeOf),
  overload(`${type}.size() int`, sizeOf),
]);

function toInt(text: string): bigint {
  if (!/^[-+]?\d+$/.test(text)) throw new CelRuntimeError(`cannot convert "${text}" to int`);
  return inRange(BigInt(text.replace(/^\+/, '')));
}

function fromDouble(value: number): bigint {
  if (!Number.isFinite(value) || Math.abs(value) >= 2 ** 63) throw new CelRuntimeError('integer overflow');
  return BigInt(Math.trunc(value));
}

function toText(value: CelValue): string {
  if (typeof value === 'string') return value;
  if (value instanceof Uint) return value.value.toString();
  if (value instanceof Uint8Array) return new TextDecoder('utf-8', { fatal: true }).decode(value);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof Timestamp) return timestampText(value);
  if (typeof value === 'object') throw new CelRuntimeError('no such overload');
  return String(value);
}

const conversions: Overload[] = [
  overload('int(int) int', (a: bigint) => a),
  overload('int(uint) int', (a: Uint) => inRange(a.value)),
  overload('int(double) int', fromDouble),
  overload('int(string) int', toInt),
  overload('int(timestamp) int', (a: Timestamp) => a.nanos / 1_000_000_000n),
  overload('uint(int) uint', (a: bigint) => unsigned(a)),
  overload('uint(uint) uint', (a: Uint) => a),
  overload('uint(double) uint', (a: number) => unsigned(fromDouble(a))),
  overload('uint(string) uint', (a: string) => unsigned(toInt(a))),
  overload('double(int) double', (a: bigint) => Number(a)),
  overload('double(uint) double', (a: Uint) => Number(a.value)),
  overload('double(double) double', (a: number) => a),
  overload('double(string) double', (a: string) => {
    const value = Number(a);
    if (a.trim() === '' || Number.isNaN(value)) throw new CelRuntimeError(`cannot convert "${a}" to double`);
    return value;
  }),
  ...['int', 'uint', 'double', 'bool', 'string', 'bytes', 'duration', 'timestamp'].map((type) =>
    overload(`string(${type}) string`, toText),
  ),
  overload('bool(bool) bool', (a: boolean) => a),
  overload('bool(string) bool', (a: string) => {
    if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(a)) return true;
    if (['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(a)) return false;
    throw new CelRuntimeError(`type conversion error from '${a}' to 'bool'`);
  }),
  overload('bytes(bytes) bytes', (a: Uint8Array) => a),
  overload('bytes(string) bytes', (a: string) => new TextEncoder().encode(a)),
  overload('duration(duration) duration', (a: Duration) => a),
  overload('duration(string) duration', (a: string) => {
    const nanos = parseDuration(a);
    if (nanos === undefined)
      throw new CelRuntimeError(`type conversion error from 'string' to 'google.protobuf.Duration'`);
    return new Duration(nanos);
  }),
  overload('timestamp(timestamp) timestamp', (a: Timestamp) => a),
  overload('timestamp(int) timestamp', (a: bigint) => new Timestamp(a * 1_000_000_000n)),
  overload('timestamp(string) timestamp', (a: string) => {
    const timestamp = parseTimestamp(a);
    if (!timestamp)
      throw new CelRuntimeError(`type conversion error from 'string' to 'google.protobuf.Timestamp'`);
    return timestamp;
  }),
  overload('type(A) type', (a: CelValue) => new TypeValue(typeName(a))),
  overload('dyn(A) dyn', (a: CelValue) => a),
];

export const operatorFunctions: readonly Overload[] = [
  ...arithmetic,
  ...comparison,
  ...sizes,
  ...conversions,
];
