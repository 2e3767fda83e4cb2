/**
 * Sets of field paths, as managedFields keeps them.
 *
 * A path is a sequence of elements in their written form: `f:name` for a field or key, `k:{"name":"a"}` for an item
 * of a keyed list, `v:"x"` for an item of a set, `i:0` for an index. A set holds, per node, which elements are
 * members themselves and the sets below them. Sets are never changed once handed out: operations make new ones and
 * share what did not change. Only a builder that made a set with `new FieldSet()` may `insert` into it.
 */
import { parseExact, stringifyExact } from '../api/json.ts';
import { isObject, type Json, type JsonObject } from '../schema/schema.ts';

export type Path = readonly string[];

export class FieldSet {
  readonly members: Set<string>;
  readonly children: Map<string, FieldSet>;

  constructor(members = new Set<string>(), children = new Map<string, FieldSet>()) {
    this.members = members;
    this.children = children;
  }

  static of(...paths: readonly Path[]): FieldSet {
    const set = new FieldSet();
    for (const path of paths) set.insert(path);
    return set;
  }

  insert(path: Path): void {
    const last = path.at(-1);
    if (last === undefined) return;
    let { members, children } = this as FieldSet;
    for (let depth = 0; depth < path.length - 1; depth += 1) {
      const element = path[depth] as string;
      let child = children.get(element);
      if (child === undefined) {
        child = new FieldSet();
        children.set(element, child);
      }
      ({ members, children } = child);
    }
    members.add(last);
  }

  get empty(): boolean {
    if (this.members.size > 0) return false;
    for (const child of this.children.values()) if (!child.empty) return false;
    return true;
  }

  has([first, ...rest]: Path): boolean {
    if (first === undefined) return false;
    return rest.length === 0 ? this.members.has(first) : this.below(first).has(rest);
  }

  /** The set below one element; empty when there is none. */
  below(element: string): FieldSet {
    return this.children.get(element) ?? nothing;
  }

  union(other: FieldSet): FieldSet {
    const members = this.members.union(other.members);
    const children = new Map(this.children);
    for (const [element, theirs] of other.children) {
      const ours = children.get(element);
      children.set(element, ours ? ours.union(theirs) : theirs);
    }
    return new FieldSet(members, children);
  }

  /** Members of this set that are not members of the other, path by path. */
  difference(other: FieldSet): FieldSet {
    const children = new Map<string, FieldSet>();
    for (const [element, ours] of this.children) {
      const theirs = other.children.get(element);
      const rest = theirs ? ours.difference(theirs) : ours;
      if (!rest.empty) children.set(element, rest);
    }
    return new FieldSet(this.members.difference(other.members), children);
  }

  /** As `difference`, and everything below a member of the other goes with it. */
  withoutSubtrees(other: FieldSet): FieldSet {
    const children = new Map<string, FieldSet>();
    for (const [element, ours] of this.children) {
      if (other.members.has(element)) continue;
      const theirs = other.children.get(element);
      const rest = theirs ? ours.withoutSubtrees(theirs) : ours;
      if (!rest.empty) children.set(element, rest);
    }
    return new FieldSet(this.members.difference(other.members), children);
  }

  intersection(other: FieldSet): FieldSet {
    const children = new Map<string, FieldSet>();
    for (const [element, ours] of this.children) {
      const theirs = other.children.get(element);
      if (theirs === undefined) continue;
      const both = ours.intersection(theirs);
      if (!both.empty) children.set(element, both);
    }
    return new FieldSet(this.members.intersection(other.members), children);
  }

  equals(other: FieldSet): boolean {
    return this.difference(other).empty && other.difference(this).empty;
  }

  /** Every path that is a member: at each level first the members, then what is below, as messages list them. */
  *paths(prefix: Path = []): Generator<Path> {
    for (const element of [...this.members].toSorted(byElement)) yield [...prefix, element];
    for (const element of [...this.children.keys()].toSorted(byElement))
      yield* this.below(element).paths([...prefix, element]);
  }

  toFieldsV1(): JsonObject {
    const out: JsonObject = {};
    for (const element of [...this.members.union(this.children)].toSorted(byElement)) {
      const below = this.children.get(element);
      const inner = below && !below.empty ? below.toFieldsV1() : undefined;
      if (inner === undefined) {
        if (this.members.has(element)) out[element] = {};
      } else {
        out[element] = this.members.has(element) ? { '.': {}, ...inner } : inner;
      }
    }
    return out;
  }

  static fromFieldsV1(fields: Json | undefined): FieldSet {
    const set = new FieldSet();
    if (!isObject(fields)) return set;
    for (const [written, inner] of Object.entries(fields)) {
      if (written === '.') continue;
      const element = canonicalElement(written);
      const keys = isObject(inner) ? Object.keys(inner) : [];
      if (keys.length === 0 || keys.includes('.')) set.members.add(element);
      if (keys.some((key) => key !== '.')) set.children.set(element, FieldSet.fromFieldsV1(inner));
    }
    return set;
  }
}

const nothing = new FieldSet();

const ranks: Readonly<Record<string, number>> = { f: 0, k: 1, v: 2, i: 3 };

function byElement(a: string, b: string): number {
  const rank = (ranks[a[0] ?? ''] ?? 4) - (ranks[b[0] ?? ''] ?? 4);
  if (rank !== 0) return rank;
  return a < b ? -1 : a > b ? 1 : 0;
}

export function fieldElement(name: string): string {
  return `f:${name}`;
}

/** Keys are written in alphabetical order; a key without a value is left out. */
export function keyElement(keys: { readonly [key: string]: Json | undefined }): string {
  const known: JsonObject = {};
  for (const key of Object.keys(keys).toSorted()) {
    const value = keys[key];
    if (value !== undefined) known[key] = value;
  }
  return `k:${stringifyExact(known)}`;
}

export function valueElement(value: Json): string {
  return `v:${stringifyExact(value)}`;
}

/** Clients may write the keys of an item in another order or spacing; one item must have one name. */
function canonicalElement(written: string): string {
  if (!written.startsWith('k:') && !written.startsWith('v:')) return written;
  try {
    const parsed = parseExact(written.slice(2)) as Json;
    return written.startsWith('k:') && isObject(parsed) ? keyElement(parsed) : valueElement(parsed);
  } catch {
    return written;
  }
}

/** A path as messages show it: `.spec.items[name="a"].value`. */
export function showPath(path: Path): string {
  return path.map(showElement).join('');
}

function showElement(element: string): string {
  const text = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${text}`;
    case 'k': {
      const keys = keysIn(text);
      if (keys === undefined) return `[${text}]`;
      const shown = Object.entries(keys).map(([key, value]) => `${key}=${stringifyExact(value)}`);
      return `[${shown.join(',')}]`;
    }
    case 'v':
      return `[=${text}]`;
    default:
      return `[${text}]`;
  }
}

/** Clients may write managedFields; what they write need not make sense. */
function keysIn(text: string): JsonObject | undefined {
  try {
    const keys = parseExact(text) as Json;
    return isObject(keys) ? keys : undefined;
  } catch {
    return undefined;
  }
}
