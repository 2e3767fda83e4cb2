/**
 * What an API server would say to an object, without one: defaults, then the structural schema, then the CEL
 * rules. Only as much of the real thing as the schemas of this package use; the same fixtures also run on the
 * embedded API server.
 */
import { Environment } from '@marcbachmann/cel-js';
import { withDefaults } from '../src/schema/defaults.ts';
import type { Rule } from '../src/schema/fields.ts';
import type { StructuralSchema } from '../src/schema/structural.ts';

const environment = new Environment({ unlistedVariablesAreDyn: true });
const programs = new Map<string, (context: Record<string, unknown>) => unknown>();

/**
 * Every complaint, each as `path: text`; none means accepted. `old` is the stored object of an update; `asked` hears of
 * every rule that was run, wherever it stands.
 */
export function evaluateRules(
  schema: StructuralSchema,
  object: unknown,
  old?: unknown,
  asked: (rule: Rule) => void = () => undefined,
): string[] {
  const value = withDefaults(schema, object);
  const before = old === undefined ? undefined : withDefaults(schema, old);
  const complaints: string[] = [];
  checkShape(schema, value, '', complaints);
  if (complaints.length === 0) checkRules(schema, value, before, '', { complaints, asked });
  return complaints;
}

/**
 * What an API server says to a default when it is given the definition. The default is taken as written: nested defaults are
 * not filled in first, and only rules at its own level and below apply.
 */
export function evaluateDefault(schema: StructuralSchema): string[] {
  const complaints: string[] = [];
  checkShape(schema, schema.default, '', complaints);
  if (complaints.length > 0) return complaints;
  try {
    checkRules(schema, schema.default, undefined, '', { complaints, asked: () => undefined });
  } catch (error) {
    complaints.push(
      `: a rule cannot be evaluated: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  return complaints;
}

function checkShape(schema: StructuralSchema, value: unknown, path: string, out: string[]): void {
  const say = (text: string): void => void out.push(`${path}: ${text}`);
  if (value === null) {
    if (schema.nullable !== true) say('Invalid value: "null"');
    return;
  }
  if (!hasType(schema, value)) return say(`must be of type ${schema.type ?? 'integer or string'}`);
  if (schema.enum !== undefined && !schema.enum.includes(value as string))
    say(`supported values: ${schema.enum.map((word) => JSON.stringify(word)).join(', ')}`);
  if (typeof value === 'string') checkText(schema, value, say);
  if (typeof value === 'number') {
    if (schema.minimum !== undefined && value < schema.minimum)
      say(`should be greater than or equal to ${schema.minimum}`);
    if (schema.maximum !== undefined && value > schema.maximum)
      say(`should be less than or equal to ${schema.maximum}`);
  }
  if (Array.isArray(value)) {
    if (schema.maxItems !== undefined && value.length > schema.maxItems)
      say(`must have at most ${schema.maxItems} items`);
    for (const [index, item] of value.entries())
      if (schema.items !== undefined) checkShape(schema.items, item, `${path}[${index}]`, out);
    return;
  }
  if (typeof value !== 'object') return;
  const fields = value as Record<string, unknown>;
  for (const name of schema.required ?? [])
    if (fields[name] === undefined) out.push(`${join(path, name)}: Required value`);
  for (const [name, field] of Object.entries(fields)) {
    const child = schema.properties?.[name] ?? schema.additionalProperties;
    if (child !== undefined && field !== undefined) checkShape(child, field, join(path, name), out);
  }
}

function checkText(schema: StructuralSchema, value: string, say: (text: string) => void): void {
  if (schema.maxLength !== undefined && value.length > schema.maxLength)
    say(`may not be more than ${schema.maxLength}`);
  if (schema.minLength !== undefined && value.length < schema.minLength)
    say(`should be at least ${schema.minLength} chars long`);
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(value))
    say(`should match '${schema.pattern}'`);
  if (
    schema.format === 'date-time' &&
    !/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(value)
  )
    say('must be of type date-time');
}

function hasType(schema: StructuralSchema, value: unknown): boolean {
  if (schema['x-kubernetes-int-or-string']) return typeof value === 'string' || Number.isInteger(value);
  switch (schema.type) {
    case 'object':
      return typeof value === 'object' && !Array.isArray(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'boolean':
    case 'string':
      return typeof value === schema.type;
    default:
      return true;
  }
}

function checkRules(
  schema: StructuralSchema,
  value: unknown,
  old: unknown,
  path: string,
  out: { readonly complaints: string[]; readonly asked: (rule: Rule) => void },
): void {
  if (value === null || value === undefined) return;
  for (const rule of schema['x-kubernetes-validations'] ?? []) {
    const isTransition = /\boldSelf\b/.test(rule.rule);
    if (isTransition && (old === undefined || old === null)) continue;
    out.asked(rule);
    if (!holds(rule, celValue(schema, value), celValue(schema, old)))
      out.complaints.push(`${path}: ${rule.message}`);
  }
  if (Array.isArray(value)) {
    // Items of an atomic list have no identity, so they have no past either.
    for (const [index, item] of value.entries())
      if (schema.items !== undefined) checkRules(schema.items, item, undefined, `${path}[${index}]`, out);
    return;
  }
  if (typeof value !== 'object') return;
  const before = (typeof old === 'object' && old !== null ? old : {}) as Record<string, unknown>;
  for (const [name, field] of Object.entries(value)) {
    const child = schema.properties?.[name] ?? schema.additionalProperties;
    if (child !== undefined) checkRules(child, field, before[name], join(path, name), out);
  }
}

function holds(rule: Rule, self: unknown, oldSelf: unknown): boolean {
  let program = programs.get(rule.rule);
  if (program === undefined) {
    program = environment.parse(rule.rule);
    programs.set(rule.rule, program);
  }
  return program({ self, oldSelf }) === true;
}

/** Whole numbers are integers in CEL; JavaScript would hand them over as floating point. */
function celValue(schema: StructuralSchema, value: unknown): unknown {
  if (typeof value === 'number' && (schema.type === 'integer' || schema['x-kubernetes-int-or-string']))
    return BigInt(value);
  if (Array.isArray(value)) return value.map((item) => celValue(schema.items ?? {}, item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      celValue(schema.properties?.[name] ?? schema.additionalProperties ?? {}, field),
    ]),
  );
}

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
