/**
 * Bodies in protobuf, as clients built on the typed libraries send them. An envelope (`k8s` and a zero byte, then the
 * kind and the raw object) is opened, and the object read into the JSON it stands for. Only reading: answers are JSON,
 * which such clients take as well.
 */
import { notImplemented } from '../api/errors.ts';
import { builtinSchema } from '../schema/builtin-schemas.ts';
import { protobufFields, zeroMeansUnset } from '../schema/protobuf-fields.ts';
import type { Json, JsonObject, Schema } from '../schema/schema.ts';

export class ProtobufFault extends Error {
  override readonly name = 'ProtobufFault';
}

type Wire = bigint | Uint8Array;

const magic = Buffer.from('k8s\0', 'latin1');

/** The object in the body; undefined for a kind whose protobuf form is not known here. */
export function decodeProtobuf(body: Buffer): JsonObject | undefined {
  if (!body.subarray(0, 4).equals(magic))
    throw new ProtobufFault('the body does not begin with the bytes k8s\\0');
  const envelope = readMessage(body.subarray(4));
  const type = readMessage(bytesOf(envelope.get(1)));
  const [apiVersion, kind] = [textOf(type.get(1)), textOf(type.get(2))];
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const schema =
    kind === 'DeleteOptions'
      ? builtinSchema('', 'v1', kind)
      : builtinSchema(group ?? '', version ?? '', kind);
  if (schema === undefined || numbersOf(schema.schema) === undefined) return undefined;
  return { apiVersion, kind, ...readObject(bytesOf(envelope.get(2)), schema.schema) };
}

/** All values by field number; of a field that was sent once there is one. */
function readMessage(bytes: Uint8Array): Map<number, Wire[]> {
  const fields = new Map<number, Wire[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at];
      if (byte === undefined) break;
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new ProtobufFault('a number ends in the middle');
  };
  const take = (length: number): Uint8Array => {
    if (length < 0 || at + length > bytes.length)
      throw new ProtobufFault('a field is longer than its message');
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const value = readWire(tag & 7, varint, take);
    const number = tag >>> 3;
    const same = fields.get(number);
    if (same) same.push(value);
    else fields.set(number, [value]);
  }
  return fields;
}

function readWire(type: number, varint: () => bigint, take: (length: number) => Uint8Array): Wire {
  switch (type) {
    case 0:
      return varint();
    case 1:
      return take(8);
    case 2:
      return take(Number(varint()));
    case 5:
      return take(4);
    default:
      throw new ProtobufFault(`a field has wire type ${type}, which there is not`);
  }
}

const numbers = new Map<string, ReadonlyMap<number, string>>();

function numbersOf(schema: Schema): ReadonlyMap<number, string> | undefined {
  const type = schema['x-type-name'] ?? '';
  const known = numbers.get(type);
  if (known) return known;
  const written = protobufFields[type];
  if (written === undefined) return undefined;
  const pairs = written === '' ? [] : written.split(' ').map((pair) => pair.split('='));
  const made = new Map(pairs.map(([name = '', number]) => [Number(number), name]));
  numbers.set(type, made);
  return made;
}

function readObject(bytes: Uint8Array, schema: Schema): JsonObject {
  const object: JsonObject = {};
  const names = numbersOf(schema);
  for (const [number, values] of readMessage(bytes)) {
    const name = names?.get(number);
    const field = name === undefined ? undefined : schema.properties?.[name];
    if (name === undefined || field === undefined) {
      // Typed clients also write what was never set; anything more must not get lost in silence.
      if (values.every(isEmpty) || isServerSaid(schema, number)) continue;
      throw notImplemented(
        `field ${number} of ${schema['x-type-name'] ?? 'an object'} in protobuf; send it as application/json`,
      );
    }
    const value = readField(values, field);
    const isUnset =
      value === undefined || value === '' || ((value === 0 || value === false) && zeroMeansUnset.has(name));
    if (!isUnset) object[name] = value;
  }
  return object;
}

/** managedFields and statuses are what the server said; a client that repeats them changes nothing. */
function isServerSaid(schema: Schema, number: number): boolean {
  const type = schema['x-type-name'] ?? '';
  return (type === 'V1ObjectMeta' && number === 17) || type.endsWith('Status');
}

function isEmpty(value: Wire): boolean {
  return typeof value === 'bigint' ? value === 0n : value.length === 0;
}

function readField(values: readonly Wire[], schema: Schema): Json | undefined {
  const items = schema.items;
  if (schema.type === 'array' && items) return values.map((value) => readOne(value, items) ?? null);
  const { additionalProperties } = schema;
  if (typeof additionalProperties === 'object') {
    const entries = values.map((value) => {
      const entry = readMessage(bytesOf(value));
      return [
        textOf(entry.get(1)),
        readOne(entry.get(2)?.[0] ?? new Uint8Array(), additionalProperties) ?? '',
      ] as const;
    });
    return Object.fromEntries(entries);
  }
  const last = values.at(-1);
  return last === undefined ? undefined : readOne(last, schema);
}

function readOne(value: Wire, schema: Schema): Json | undefined {
  if (schema['x-kubernetes-int-or-string'])
    return schema.format === 'quantity' ? quantity(value) : intOrString(value);
  switch (schema.type) {
    case 'boolean':
      return value !== 0n;
    case 'integer':
      return typeof value === 'bigint' ? Number(BigInt.asIntN(64, value)) : undefined;
    case 'number':
      return value instanceof Uint8Array ? Buffer.from(value).readDoubleLE() : undefined;
    case 'string':
      if (schema.format === 'byte') return Buffer.from(bytesOf(value)).toString('base64');
      return schema.format?.startsWith('date-time') ? time(value, schema.format) : textOf(value);
    case 'object':
      return readObject(bytesOf(value), schema);
    default:
      return undefined;
  }
}

function quantity(value: Wire): string {
  return textOf(readMessage(bytesOf(value)).get(1));
}

function intOrString(value: Wire): number | string {
  const message = readMessage(bytesOf(value));
  if (message.get(1)?.[0] === 1n) return textOf(message.get(3));
  const number = message.get(2)?.[0];
  return typeof number === 'bigint' ? Number(BigInt.asIntN(64, number)) : 0;
}

/** A time that was not set is an empty message. */
function time(value: Wire, format: string): string | undefined {
  const message = readMessage(bytesOf(value));
  const seconds = message.get(1)?.[0];
  if (typeof seconds !== 'bigint') return undefined;
  const nanos = message.get(2)?.[0];
  const at = new Date(Number(BigInt.asIntN(64, seconds)) * 1000).toISOString().replace('.000Z', '');
  if (format === 'date-time') return `${at}Z`;
  const micros = typeof nanos === 'bigint' ? (nanos / 1000n).toString().padStart(6, '0') : '000000';
  return `${at}.${micros}Z`;
}

function bytesOf(value: Wire | readonly Wire[] | undefined): Uint8Array {
  const one = Array.isArray(value) ? (value as readonly Wire[]).at(-1) : (value as Wire | undefined);
  return one instanceof Uint8Array ? one : new Uint8Array();
}

function textOf(value: Wire | readonly Wire[] | undefined): string {
  return Buffer.from(bytesOf(value)).toString('utf8');
}
