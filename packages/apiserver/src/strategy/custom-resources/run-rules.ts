/**
 * Runs the rules of a schema on a value. Faults in parts that did not change become warnings: they were stored before.
 * Transition rules (those that use oldSelf) always count.
 */

import type { FieldFault } from '../../api/errors.ts';
import { stringifyExact } from '../../api/json.ts';
import { CelRuntimeError } from '../../cel/errors.ts';
import { toCel } from '../../cel/schema-types.ts';
import { type CelValue, Optional } from '../../cel/values.ts';
import { isObject, type Json, jsonEqual, own, type Schema } from '../../schema/schema.ts';
import { type CompiledRule, rulesOf } from './compiled-rules.ts';
import { invalidValue } from './faults.ts';
import { correlate } from './validate-value.ts';

export interface RuleFindings {
  readonly faults: FieldFault[];
  /** Texts for the client about what is wrong but may stay. */
  readonly warnings: string[];
}

/** `at` is where the value is found when it is not a whole object. */
export function runRules(
  value: Json,
  schema: Schema,
  old: Json | undefined,
  at: { readonly path: string; readonly isRoot: boolean } = { path: '', isRoot: true },
): RuleFindings {
  const found: RuleFindings = { faults: [], warnings: [] };
  walk(value, schema, old, at.path, at.isRoot, found);
  return found;
}

/** Whether there is any rule to run; most schemas have none below most nodes. */
const withRules = new WeakMap<Schema, boolean>();

export function hasRules(schema: Schema): boolean {
  const known = withRules.get(schema);
  if (known !== undefined) return known;
  withRules.set(schema, false);
  const children = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.items ? [schema.items] : []),
    ...(typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : []),
  ];
  const has = (schema['x-kubernetes-validations']?.length ?? 0) > 0 || children.some(hasRules);
  withRules.set(schema, has);
  return has;
}

function walk(
  value: Json,
  schema: Schema,
  old: Json | undefined,
  path: string,
  isRoot: boolean,
  found: RuleFindings,
): void {
  if (value === null || !hasRules(schema)) return;
  runHere(value, schema, old, path, isRoot, found);
  if (Array.isArray(value)) {
    if (!schema.items) return;
    const before = correlate(schema, old);
    const isSame = old !== undefined && jsonEqual(value, old);
    for (const [index, item] of value.entries())
      walk(item, schema.items, isSame ? item : before(item), `${path}[${index}]`, false, found);
    return;
  }
  if (!isObject(value)) return;
  const olds = isObject(old) ? old : {};
  for (const [key, child] of Object.entries(value)) {
    const known = own(schema.properties, key);
    const additional =
      typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
    if (known) walk(child, known, own(olds, key), path === '' ? key : `${path}.${key}`, false, found);
    else if (additional) walk(child, additional, own(olds, key), `${path}[${key}]`, false, found);
  }
}

function runHere(
  value: Json,
  schema: Schema,
  old: Json | undefined,
  path: string,
  isRoot: boolean,
  found: RuleFindings,
): void {
  const rules = rulesOf(schema, isRoot);
  if (rules.length === 0) return;
  const self = toCel(value, schema);
  if (self === undefined) return;
  const before = old === undefined || old === null ? undefined : toCel(old, schema);
  const isSame = old !== undefined && jsonEqual(value, old);
  for (const compiled of rules) {
    const isOptional = compiled.rule.optionalOldSelf === true;
    if (compiled.isTransition && before === undefined && !isOptional) continue;
    const frame = new Map<string, CelValue>([['self', self]]);
    if (isOptional) frame.set('oldSelf', new Optional(before));
    else if (before !== undefined) frame.set('oldSelf', before);
    const failure = failureOf(compiled, frame);
    if (failure === undefined) continue;
    if ('error' in failure) {
      found.faults.push(invalidValue(path === '' ? '<nil>' : path, schema.type ?? '', failure.error));
      continue;
    }
    const fault = ruleFault(compiled, path, value, failure.detail);
    if (isSame && !compiled.isTransition) found.warnings.push(`${fault.field}: ${fault.message}`);
    else found.faults.push(fault);
  }
}

/** A rule answers false (`detail`), or cannot be evaluated (`error`): the second is reported with the schema's type. */
type RuleFailure = { readonly detail: string } | { readonly error: string };

function failureOf(compiled: CompiledRule, frame: Map<string, CelValue>): RuleFailure | undefined {
  const { rule, program, fault } = compiled;
  if (!program) return { error: `rule compile error: ${fault}` };
  try {
    return program.run(frame) === true ? undefined : { detail: messageOf(compiled, frame) };
  } catch (error) {
    if (!(error instanceof CelRuntimeError)) throw error;
    const said = (rule.message || rule.rule).trim();
    if (error.message.startsWith('no such overload'))
      return {
        error: `'${error.message}': call arguments did not match a supported operator, function or macro signature for rule: ${said}`,
      };
    return { error: `${error.message} evaluating rule: ${said}` };
  }
}

function messageOf({ rule, message }: CompiledRule, frame: Map<string, CelValue>): string {
  if (message) {
    try {
      const text = message.run(frame);
      if (typeof text === 'string' && text.trim() !== '' && !text.includes('\n')) return text.trim();
    } catch (error) {
      if (!(error instanceof CelRuntimeError)) throw error;
    }
  }
  return rule.message?.trim() || `failed rule: ${rule.rule.trim()}`;
}

function ruleFault({ rule }: CompiledRule, path: string, value: Json, detail: string): FieldFault {
  const field = fieldOfRule(path, rule.fieldPath);
  const shown = typeof value === 'object' ? '' : `${stringifyExact(value)}: `;
  switch (rule.reason) {
    case 'FieldValueRequired':
      return { reason: rule.reason, field, message: `Required value: ${detail}` };
    case 'FieldValueForbidden':
      return { reason: rule.reason, field, message: `Forbidden: ${detail}` };
    case 'FieldValueDuplicate':
      return { reason: rule.reason, field, message: `Duplicate value: ${shown}${detail}` };
    default:
      return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${shown}${detail}` };
  }
}

/** A rule may point at a field below its own: `.name`, `['some-key']`. */
function fieldOfRule(path: string, below: string | undefined): string {
  const more = (below ?? '').replaceAll(/\['([^']+)'\]/g, '[$1]');
  if (path === '') return more === '' ? '<nil>' : more.replace(/^\./, '');
  return `${path}${more}`;
}
