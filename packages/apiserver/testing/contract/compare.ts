/** Field by field: the first difference between what was recorded and what came, in words. */
import { isObject } from '../../src/api/json.ts';
import type { Masks } from './masks.ts';

export function firstDifference(
  recorded: unknown,
  actual: unknown,
  masks: Masks,
  path = '$',
): string | undefined {
  if (typeof recorded === 'string') return differentText(recorded, actual, masks, path);
  if (Array.isArray(recorded)) {
    if (!Array.isArray(actual)) return differs(path, recorded, actual);
    if (path.endsWith('.managedFields'))
      return firstDifference(recorded, inOrderOf(recorded, actual), masks, `${path} `);
    const ordered = recorded.some(hasGeneratedName) ? inRecordedOrder(recorded, actual, masks) : actual;
    for (const [index, item] of recorded.entries()) {
      if (index >= actual.length)
        return `${path} has ${actual.length} entries, recorded were ${recorded.length}`;
      const found = firstDifference(item, ordered[index], masks, `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    if (actual.length > recorded.length)
      return `${path} has ${actual.length} entries, recorded were ${recorded.length}; first extra: ${show(ordered[recorded.length])}`;
    return undefined;
  }
  if (isObject(recorded)) {
    if (!isObject(actual)) return differs(path, recorded, actual);
    return differentFields(recorded, actual, masks, path);
  }
  return recorded === actual ? undefined : differs(path, recorded, actual);
}

function hasGeneratedName(entry: unknown): boolean {
  const metadata = isObject(entry) && isObject(entry['metadata']) ? entry['metadata'] : entry;
  const name = isObject(metadata) ? metadata['name'] : metadata;
  return typeof name === 'string' && /<(?:rand|hash)(?:-\d+)?>/.test(name);
}

/**
 * Lists are in the order of names, and generated names are others at each run: each recorded entry is compared with the
 * first that it fits. An entry that none fits is compared with what is left.
 */
function inRecordedOrder(recorded: readonly unknown[], actual: readonly unknown[], masks: Masks): unknown[] {
  const left = [...actual];
  const ordered = recorded.map((entry): unknown => {
    for (const [index, candidate] of left.entries()) {
      const forget = masks.snapshot();
      if (firstDifference(entry, candidate, masks) === undefined) return left.splice(index, 1)[0];
      forget();
    }
    return unmatched;
  });
  const complete = ordered.map((entry) => (entry === unmatched ? left.shift() : entry));
  return [...complete.slice(0, actual.length), ...left];
}

const unmatched = Symbol('unmatched');

/**
 * managedFields is sorted by time, to the second: what took the recording seconds may happen in one here. Entries with
 * a time are put in the recorded order before they are compared; those without keep their place.
 */
function inOrderOf(recorded: readonly unknown[], actual: readonly unknown[]): unknown[] {
  const name = (entry: unknown): string =>
    isObject(entry)
      ? JSON.stringify([entry['operation'], entry['manager'], entry['apiVersion'], entry['subresource']])
      : '';
  const isTimed = (entry: unknown): boolean => isObject(entry) && entry['time'] !== undefined;
  const wanted = recorded.filter(isTimed).map(name);
  const place = (entry: unknown): number => {
    const at = wanted.indexOf(name(entry));
    return at === -1 ? wanted.length : at;
  };
  const timed = actual.filter(isTimed).toSorted((a, b) => place(a) - place(b));
  return actual.map((entry) => (isTimed(entry) ? timed.shift() : entry));
}

function differentFields(
  recorded: Record<string, unknown>,
  actual: Record<string, unknown>,
  masks: Masks,
  path: string,
): string | undefined {
  const seen = new Set<string>();
  for (const [recordedKey, value] of Object.entries(recorded)) {
    const key = actualKey(recordedKey, actual, masks);
    if (key === undefined) return `${path}.${recordedKey} is missing, recorded was ${show(value)}`;
    seen.add(key);
    const found = firstDifference(value, actual[key], masks, `${path}.${key}`);
    if (found !== undefined) return found;
  }
  const extra = Object.keys(actual).find((key) => !seen.has(key));
  if (extra !== undefined) return `${path}.${extra} = ${show(actual[extra])} was not in the recording`;
  return sameVersionTwice(recorded, actual, masks, path);
}

/** Keys of fieldsV1 hold uids and hashes too. */
function actualKey(recorded: string, actual: Record<string, unknown>, masks: Masks): string | undefined {
  if (!recorded.includes('<')) return recorded in actual ? recorded : undefined;
  return Object.keys(actual).find((key) => masks.matches(recorded, key));
}

/** Two masks mean two values: a write that should have happened and did not shows here. */
function sameVersionTwice(
  recorded: Record<string, unknown>,
  actual: Record<string, unknown>,
  masks: Masks,
  path: string,
): string | undefined {
  const version = actual['resourceVersion'];
  const uid = recorded['uid'];
  if (typeof version !== 'string' || typeof uid !== 'string') return undefined;
  const name = String(recorded['resourceVersion']);
  const before = masks.value(`${uid}@${version}`);
  if (before !== undefined && before !== name)
    return `${path}.resourceVersion is ${version} as at ${before}, but the recording shows another one (${name})`;
  masks.bind(`${uid}@${version}`, name);
  return undefined;
}

/** How far two ages in seconds may lie apart: the recording was made on another day. */
const ageTolerance = 20;

/** Columns that tell an age in seconds. */
function isAge(recorded: string, actual: unknown, path: string): boolean {
  const seconds = /^(\d+)s$/;
  const [a, b] = [seconds.exec(recorded)?.[1], seconds.exec(String(actual))?.[1]];
  if (!path.includes('.cells[') || a === undefined || b === undefined) return false;
  return Math.abs(Number(a) - Number(b)) <= ageTolerance;
}

/** The certificate of a server is its own. */
function isCertificate(recorded: string, actual: unknown): boolean {
  const certificate = /^-----BEGIN CERTIFICATE-----\n[^]+-----END CERTIFICATE-----\n?$/;
  return certificate.test(recorded) && typeof actual === 'string' && certificate.test(actual);
}

function differentText(recorded: string, actual: unknown, masks: Masks, path: string): string | undefined {
  if (isAge(recorded, actual, path) || isCertificate(recorded, actual)) return undefined;
  // Masked numbers and masked lists are recorded as text.
  const text = typeof actual === 'string' || !recorded.startsWith('<') ? actual : JSON.stringify(actual);
  if (typeof text === 'string' && masks.matches(recorded, text)) return undefined;
  return differs(path, masks.fill(recorded), actual);
}

function differs(path: string, recorded: unknown, actual: unknown): string {
  return `${path} is ${show(actual)}, recorded was ${show(recorded)}`;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent';
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}
