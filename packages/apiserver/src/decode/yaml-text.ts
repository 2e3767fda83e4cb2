/**
 * YAML as a Kubernetes API server, kubectl and helm read it: the plain scalars of YAML 1.1 (`yes`, `on` and `n` are
 * booleans, `010` is eight) without its dates and base 60 numbers, the first document only, the last of two equal keys.
 */
import { type Document, isMap, isScalar, LineCounter, parseAllDocuments, visit, type YAMLMap } from 'yaml';

export class YamlSyntaxError extends Error {
  override readonly name = 'YamlSyntaxError';
}

export interface ReadYaml {
  readonly value: unknown;
  /** A sentence for each key that stands twice in a map. */
  readonly duplicates: readonly string[];
}

/** Tags of YAML 1.1 that Go's reader leaves as text: dates, and numbers in base 60. */
const unread = new Set(['TIME', 'tag:yaml.org,2002:timestamp']);

/** All documents of a text, as `kubectl apply -f` reads them. */
export function readAllYaml(text: string): unknown[] {
  return documentsOf(text, new LineCounter()).map((document) => plain(document.toJS({ maxAliasCount: 100 })));
}

function documentsOf(text: string, lines: LineCounter): Document[] {
  const documents = parseAllDocuments(text, {
    version: '1.1',
    uniqueKeys: false,
    intAsBigInt: true,
    lineCounter: lines,
    customTags: (tags) =>
      tags.filter((tag) => typeof tag === 'string' || !(unread.has(tag.format ?? '') || unread.has(tag.tag))),
  });
  return 'empty' in documents ? [] : documents;
}

export function readYaml(text: string): ReadYaml {
  const lines = new LineCounter();
  const [document] = documentsOf(text, lines);
  if (document === undefined) return { value: null, duplicates: [] };
  const [fault] = document.errors;
  if (fault !== undefined) {
    const line = lines.linePos(fault.pos[0]).line;
    throw new YamlSyntaxError(`yaml: line ${line}: ${reason(fault.code, fault.message)}`, {
      cause: fault,
    });
  }
  const duplicates: string[] = [];
  visit(document, {
    Map: (_key, map) => {
      duplicates.push(...duplicateKeysIn(map, lines));
    },
  });
  return { value: plain(asValue(document)), duplicates };
}

/** An alias without its anchor is found only here. */
function asValue(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    const [, name] = /^Unresolved alias .*: (.*)$/.exec(error instanceof Error ? error.message : '') ?? [];
    if (name === undefined) throw error;
    throw new YamlSyntaxError(`yaml: unknown anchor '${name}' referenced`);
  }
}

/** What Go's reader says of the same fault, where it can be told from the parser's code. */
function reason(code: string, message: string): string {
  switch (code) {
    case 'TAB_AS_INDENT':
      return 'found character that cannot start any token';
    case 'BLOCK_AS_IMPLICIT_KEY':
      return 'mapping values are not allowed in this context';
    case 'MISSING_CHAR':
    case 'MULTILINE_IMPLICIT_KEY':
      return "could not find expected ':'";
    case 'BAD_SCALAR_START':
      return 'found character that cannot start any token';
    case 'BAD_ALIAS':
      return 'unknown anchor referenced';
    default:
      return message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? '';
  }
}

function duplicateKeysIn(map: YAMLMap, lines: LineCounter): string[] {
  const seen = new Set<string>();
  const found: string[] = [];
  for (const { key } of map.items) {
    if (!isScalar(key) || isMap(key)) continue;
    const name = String(key.value);
    if (seen.has(name))
      found.push(
        `line ${lines.linePos(key.range?.[0] ?? 0).line}: key ${JSON.stringify(name)} already set in map`,
      );
    seen.add(name);
  }
  return found;
}

/** Whole numbers that fit into a number become one, and keys become text, as in JSON. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const small = Number(value);
    return Number.isSafeInteger(small) ? small : value >= -(2n ** 63n) && value < 2n ** 63n ? value : small;
  }
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([key, item]) => [String(key), plain(item)]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}
