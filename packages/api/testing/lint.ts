/**
 * What `apiextensions.k8s.io/v1` demands of a structural schema, and what this package demands beyond it:
 * descriptions, merge keys, and bounds on everything a CEL rule reads (the API server estimates a rule's cost
 * from them and refuses CRDs that might be slow).
 */

import { type SchemaNode, walk } from '../src/schema/paths.ts';
import type { StructuralSchema } from '../src/schema/structural.ts';
import { evaluateDefault } from './evaluate-rules.ts';

/** Every breach, each as `path: text`. */
export function lint(root: StructuralSchema): string[] {
  const breaches: string[] = [];
  for (const node of walk(root)) {
    const say = (text: string): void =>
      void breaches.push(`${node.path === '' ? '(root)' : node.path}: ${text}`);
    checkStructure(node, say);
    checkMerging(node.schema, say);
    checkDefault(node, say);
    checkDescription(node, say);
    for (const expression of expressionsOf(node.schema)) checkExpression(expression, say);
    for (const rule of node.schema['x-kubernetes-validations'] ?? []) {
      if (/\n/.test(rule.message) || rule.message.length > 2048)
        say('a message must be one line of at most 2048 characters');
      if (!/[a-z]/.test(rule.message)) say('a rule needs a message');
      for (const unbounded of unboundedReads(node, rule.rule))
        say(`a rule reads ${unbounded}, which has no bound`);
    }
  }
  return breaches;
}

type Say = (text: string) => void;

function checkStructure({ schema, path, parent }: SchemaNode, say: Say): void {
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (schema['x-kubernetes-int-or-string']) {
    if (schema.type !== undefined) say('int-or-string excludes a type');
  } else if (schema.type === undefined && !isOpen) say('has no type');
  if (schema.properties !== undefined && schema.additionalProperties !== undefined)
    say('is both an object and a map');
  if (schema.properties !== undefined && schema.type !== 'object') say('has properties but is no object');
  if (schema.type === 'array' && schema.items === undefined) say('is a list without items');
  for (const name of schema.required ?? [])
    if (schema.properties?.[name] === undefined) say(`requires ${name}, which it does not declare`);
  if (path === 'metadata' && (schema.properties !== undefined || parent?.path !== ''))
    say('metadata is not ours to restrict');
  if (schema.nullable && schema.default !== undefined) say('has both null and a default');
}

function checkMerging(schema: StructuralSchema, say: Say): void {
  const type = schema['x-kubernetes-list-type'];
  if (schema.type !== 'array') return;
  if (type === undefined) return say('a list must say how server-side apply merges it');
  if (type === 'set' && schema.items?.type === 'object') say('a set holds scalars');
  if (type !== 'map') return;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (keys.length === 0) say('a list that merges by key needs keys');
  for (const key of keys) {
    const field = schema.items?.properties?.[key];
    if (field === undefined || field.type === 'object' || field.type === 'array')
      say(`${key} is no scalar of the items`);
    else if (field.default === undefined && !schema.items?.required?.includes(key))
      say(`${key} may be absent`);
  }
}

function checkDefault({ schema }: SchemaNode, say: Say): void {
  if (schema.default === undefined) return;
  for (const complaint of evaluateDefault(schema)) say(`its default is not valid: ${complaint}`);
}

function checkDescription({ schema, path }: SchemaNode, say: Say): void {
  if (path === 'metadata') return;
  const { description = '' } = schema;
  if (description === '') say('has no description');
  else if (!/[.)]$/.test(description)) say('its description is no sentence');
}

/** The regular expressions of a node: its own pattern, and those that its rules match with. */
function expressionsOf({ pattern, 'x-kubernetes-validations': rules = [] }: StructuralSchema): string[] {
  const matched = rules.flatMap(({ rule }) =>
    [...rule.matchAll(/matches\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/g)].map(
      ([, one, other]) => one ?? other ?? '',
    ),
  );
  return [...(pattern === undefined ? [] : [pattern]), ...matched];
}

/** The API server's expressions are RE2's. What JavaScript knows beyond them passes our tests and is refused there. */
function checkExpression(expression: string, say: Say): void {
  if (/\(\?<?[=!]/.test(expression)) say(`"${expression}" looks around, which RE2 does not know`);
  if (/\\[1-9k]/.test(expression)) say(`"${expression}" refers back, which RE2 does not know`);
  for (const [, most = '0'] of expression.matchAll(/\{(?:\d+,)?(\d+)\}/g))
    if (Number(most) > 1000) say(`"${expression}" repeats more than 1000 times, which RE2 refuses`);
}

/** What the rule reads, as paths from its node, and of those what could be of any length. */
function unboundedReads(node: SchemaNode, rule: string): string[] {
  const found: string[] = [];
  for (let outer: SchemaNode | undefined = node; outer?.parent !== undefined; outer = outer.parent) {
    const { schema } = outer.parent;
    if (schema.type === 'array' && schema.maxItems === undefined)
      found.push(`${outer.parent.path} for every item`);
    if (schema.additionalProperties !== undefined && schema.maxProperties === undefined)
      found.push(`${outer.parent.path} for every value`);
  }
  const reads = new Set(
    [...rule.matchAll(/\b(?:self|oldSelf)((?:\.[a-zA-Z]\w*)*)(\(?)/g)].map(([, path = '', call]) =>
      call === '(' ? path.slice(0, path.lastIndexOf('.')) : path,
    ),
  );
  for (const path of reads) {
    const schema = resolve(
      node.schema,
      path.split('.').filter((step) => step !== ''),
    );
    if (schema === undefined) {
      if (!path.startsWith('.metadata.')) found.push(`self${path}, which is not declared,`);
    } else if (!isBounded(schema)) found.push(`self${path}`);
  }
  return found;
}

function resolve(schema: StructuralSchema, steps: readonly string[]): StructuralSchema | undefined {
  const [step, ...rest] = steps;
  if (step === undefined) return schema;
  const next = schema.properties?.[step];
  return next === undefined ? undefined : resolve(next, rest);
}

function isBounded(schema: StructuralSchema): boolean {
  if (schema.type === 'string')
    return schema.maxLength !== undefined || schema.enum !== undefined || schema.format !== undefined;
  if (schema.type === 'array') return schema.maxItems !== undefined;
  if (schema.additionalProperties !== undefined) return schema.maxProperties !== undefined;
  return true;
}
