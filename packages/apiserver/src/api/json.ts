/**
 * Plain JSON values: read, write, copy and compare. A whole number that a JavaScript number cannot hold exactly is a
 * bigint, as the real server keeps every int64; all others are numbers.
 */

declare global {
  interface JSON {
    /** A value that is written as the text says. */
    rawJSON(text: string): object;
  }
}

/** Long enough that a number may lose digits. */
const maybeInexact = /[:[,\s]-?\d{16,}/;
const int64 = { least: -(2n ** 63n), most: 2n ** 63n - 1n };

/** As JSON.parse, but whole numbers within int64 are exact; beyond it they are floats, as on the real server. */
export function parseExact(text: string): unknown {
  if (!maybeInexact.test(text)) return JSON.parse(text);
  return JSON.parse(text, function (_key, value: unknown, ...rest: { source?: string }[]) {
    return typeof value === 'number' && !Number.isSafeInteger(value)
      ? exactNumber(rest[0]?.source ?? '', value)
      : value;
  } as (key: string, value: unknown) => unknown);
}

function exactNumber(source: string, value: number): number | bigint {
  if (!/^-?\d+$/.test(source)) return value;
  const exact = BigInt(source);
  return exact < int64.least || exact > int64.most ? value : exact;
}

/** As JSON.stringify, also with a bigint inside. */
export function stringifyExact(value: unknown, indent = 0): string {
  try {
    return JSON.stringify(value, null, indent);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const raw = (_key: string, item: unknown) =>
      typeof item === 'bigint' ? JSON.rawJSON(String(item)) : item;
    return JSON.stringify(value, raw, indent);
  }
}

/** A deep copy; much faster than structuredClone, and right because everything here came from JSON. */
export function clone<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(clone) as T;
  const copy: Record<string, unknown> = {};
  for (const key in value) {
    const item: unknown = value[key];
    if (item !== undefined) copy[key] = clone(item);
  }
  return copy as T;
}

/** Deep equality; a key with value undefined counts as absent. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => equal(item, b[index]))
    );
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  for (const key in left) if (!equal(left[key], right[key])) return false;
  for (const key in right) if (right[key] !== undefined && left[key] === undefined) return false;
  return true;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
