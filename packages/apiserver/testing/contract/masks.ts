import { randomUUID } from 'node:crypto';
import type { Caller } from './backend.ts';
import type { RecordedRequest } from './case.ts';
import { at } from './reductions.ts';

/** What recordings hide: a mask stands for a value that is another one at each run. */

/** Numbered masks: the first value seen is bound, and must be the same wherever the mask stands again. */
const patterns: Readonly<Record<string, string>> = {
  uid: '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
  rv: '\\d+',
  continue: '[\\w=/+-]+',
  rand: '[a-z0-9]{5}',
  hash: '[a-z0-9]{1,10}',
  clusterip: '\\d+\\.\\d+\\.\\d+\\.\\d+|[0-9a-f:]+',
  nodeport: '\\d+',
};

/** Masks without a number stand for any value of their kind. */
const loose: Readonly<Record<string, string>> = {
  time: '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z',
  port: '\\d+',
  'ca-bundle': '[\\w=/+]+',
  certificate: '[^]+',
  token: '[\\w.-]+',
  n: '\\d+',
  id: '[^]+',
  hex: '[0-9a-f]+',
  rand: '[a-z0-9]{5}',
  hash: '[\\w-]+',
  major: '[^]*',
  minor: '[^]*',
  emulationMajor: '[^]*',
  emulationMinor: '[^]*',
  minCompatibilityMajor: '[^]*',
  minCompatibilityMinor: '[^]*',
  gitVersion: '[^]*',
  gitCommit: '[^]*',
  gitTreeState: '[^]*',
  buildDate: '[^]*',
  goVersion: '[^]*',
  compiler: '[^]*',
  platform: '[^]*',
  masked: '[^]*',
};

/** Kinds of which a value never stands for two masks. */
const distinct = /^<(?:uid|hash|rand)-/;

const mask = new RegExp(
  `<(?:(${Object.keys(patterns).join('|')})-(\\d+)|(${Object.keys(loose).join('|')}))>`,
  'g',
);

export class Masks {
  readonly #bound = new Map<string, string>();
  /** Masks whose value was seen only where a newer one may stand. */
  readonly #upperBounds = new Set<string>();
  /**
   * The last time that was seen: a client that sends an object back sends its times too. Before that, two hours ago:
   * the one recording that sends a time of its own (a column shows its age) sent that.
   */
  #time = new Date(Date.now() - 7_200_000).toISOString().replace(/\.\d+/, '');

  /** The last token that was seen, for requests that use it. */
  #token = '';

  bind(name: string, value: string): void {
    this.#bound.set(name, value);
  }

  /** Everything learned so far, to go back to when an attempt fails: what a later one sees may be another value. */
  snapshot(): () => void {
    const bound = new Map(this.#bound);
    const upperBounds = new Set(this.#upperBounds);
    return () => {
      this.#upperBounds.clear();
      for (const name of upperBounds) this.#upperBounds.add(name);
      this.#bound.clear();
      for (const [name, value] of bound) this.#bound.set(name, value);
    };
  }

  value(name: string): string | undefined {
    return this.#bound.get(name);
  }

  /** The mask bound to a value of that kind, if any. */
  nameOf(kind: string, value: string): string | undefined {
    for (const [name, bound] of this.#bound) if (bound === value && name.startsWith(`<${kind}-`)) return name;
    return undefined;
  }

  /** The numbered masks in a text that have no value yet. */
  unbound(text: string): string[] {
    const found = [...text.matchAll(mask)].filter((match) => match[1] !== undefined).map((match) => match[0]);
    return [...new Set(found)].filter((name) => !this.#bound.has(name));
  }

  /** The text with the values of bound masks put in. */
  fill(text: string): string {
    return text.replaceAll(mask, (whole) =>
      whole === '<time>' ? this.#time : whole === '<token>' ? this.#token : (this.#bound.get(whole) ?? whole),
    );
  }

  /** As `matches`, where the actual number may also be greater than the one that the mask stands for. */
  matchesOrNewer(recorded: string, actual: string): boolean {
    const bound = this.#bound.get(recorded);
    if (bound !== undefined) return Number(actual) >= Number(bound);
    if (!this.matches(recorded, actual)) return false;
    this.#upperBounds.add(recorded);
    return true;
  }

  /** The first exact value of a mask that is bound to one that may be too great. */
  #narrows(recorded: string, actual: string): boolean {
    if (!this.#upperBounds.has(recorded) || !(Number(actual) <= Number(this.#bound.get(recorded))))
      return false;
    this.#upperBounds.delete(recorded);
    this.#bound.set(recorded, actual);
    return true;
  }

  /** Whether a recorded text can stand for the actual one; binds what it learns when it does. */
  matches(recorded: string, actual: string): boolean {
    if (!recorded.includes('<')) return recorded === actual;
    if (this.#narrows(recorded, actual)) return true;
    const names: string[] = [];
    let pattern = '';
    let offset = 0;
    for (const match of recorded.matchAll(mask)) {
      pattern += escape(recorded.slice(offset, match.index));
      offset = match.index + match[0].length;
      const [whole, kind, , free] = match;
      const bound = this.#bound.get(whole);
      if (bound !== undefined) pattern += escape(bound);
      else if (kind === undefined) pattern += `(?:${loose[free ?? ''] ?? ''})`;
      else if (names.includes(whole)) pattern += `\\${names.indexOf(whole) + 1}`;
      else {
        names.push(whole);
        pattern += `(${patterns[kind] ?? ''})`;
      }
    }
    pattern += escape(recorded.slice(offset));
    const found = new RegExp(`^${pattern}$`).exec(actual);
    if (found === null) return false;
    // Two masks of a kind are two values, so what is bound to one cannot be the other.
    for (const [index, name] of names.entries())
      if (
        distinct.test(name) &&
        this.nameOf(name.slice(1, name.lastIndexOf('-')), found[index + 1] ?? '') !== undefined
      )
        return false;
    for (const [index, name] of names.entries()) this.#bound.set(name, found[index + 1] ?? '');
    if (recorded === '<time>') this.#time = actual;
    if (recorded === '<token>') this.#token = actual;
    return true;
  }
}

function escape(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}

/** Requests may hold masks that no recorded answer showed; what they stood for follows from where they stand. */
export async function bindFromServer(caller: Caller, masks: Masks, request: RecordedRequest): Promise<void> {
  const unbound = masks.unbound(JSON.stringify([request.path, request.body ?? null]));
  if (unbound.length === 0) return;
  const path = masks.fill(request.path).split('?')[0] ?? '';
  const live: unknown = JSON.parse((await caller.call({ method: 'GET', path })).text);
  const uid = at(live, 'metadata', 'uid');
  const isNew = typeof uid === 'string' && masks.nameOf('uid', uid) === undefined;
  for (const name of unbound) {
    if (name.startsWith('<rv-')) {
      // The object's own version if it is one, else the version of the collection.
      const version = at(live, 'metadata', 'resourceVersion');
      if (typeof version === 'string') masks.bind(name, version);
    } else if (name.startsWith('<uid-')) {
      // A uid not seen so far is that of the object made in the setup; one beyond that is a wrong one.
      masks.bind(name, isNew ? uid : randomUUID());
    }
  }
}
