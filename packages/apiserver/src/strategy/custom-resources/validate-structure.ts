/** Whether a CRD's schema is structural: every field has one type, and junctors only restrict. */
import type { FieldFault } from '../../api/errors.ts';
import { clone, stringifyExact } from '../../api/json.ts';
import { type Json, own, type Schema } from '../../schema/schema.ts';
import { pruneValue } from './default-value.ts';
import { forbiddenField, invalidValue, requiredValue } from './faults.ts';
import { regexpFault } from './regexp-syntax.ts';
import { runRules } from './run-rules.ts';
import { completenessFaults } from './schema-completeness.ts';
import { validateValue } from './validate-value.ts';

const types = new Set(['object', 'array', 'string', 'integer', 'number', 'boolean']);

export function validateStructure(schema: Schema, path: string): FieldFault[] {
  const faults: FieldFault[] = [];
  checkNode(schema, path, 'root', faults);
  faults.push(...completenessFaults(schema, path));
  const text = ({ field, message }: FieldFault) => `${field}: ${message}`;
  return faults.toSorted((a, b) => (text(a) < text(b) ? -1 : 1));
}

type Level = 'root' | 'item' | 'field';

const untyped: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function checkNode(schema: Schema, path: string, level: Level, faults: FieldFault[]): void {
  if (schema.type && !types.has(schema.type))
    faults.push({
      reason: 'FieldValueNotSupported',
      field: `${path}.type`,
      message: `Unsupported value: ${JSON.stringify(schema.type)}: supported values: "array", "boolean", "integer", "number", "object", "string"`,
    });
  if (schema['x-kubernetes-int-or-string'] && schema.type)
    faults.push(forbiddenField(`${path}.type`, 'must be empty if x-kubernetes-int-or-string is true'));
  checkType(schema, path, level, faults);
  checkExtensions(schema, path, faults);
  if (schema.type === 'array' && !schema.items)
    faults.push(requiredValue(`${path}.items`, 'must be specified'));
  checkPattern(schema, path, faults);
  checkJunctors(schema, path, faults);
  if (level === 'root' || schema['x-kubernetes-embedded-resource']) checkObjectFields(schema, path, faults);
  if (level === 'root') checkRootMetadata(schema, path, faults);
  for (const [name, child] of Object.entries(schema.properties ?? {}))
    checkNode(child, `${path}.properties[${name}]`, 'field', faults);
  if (schema.items) checkNode(schema.items, `${path}.items`, 'item', faults);
  if (typeof schema.additionalProperties === 'object') {
    const at = `${path}.additionalProperties`;
    if (level === 'root') faults.push(forbiddenField(at, 'must not be used at the root'));
    checkNode(schema.additionalProperties, at, 'field', faults);
  }
}

function checkType(schema: Schema, path: string, level: Level, faults: FieldFault[]): void {
  const at = `${path}.type`;
  const isTyped =
    schema.type || schema['x-kubernetes-int-or-string'] || schema['x-kubernetes-preserve-unknown-fields'];
  if (schema['x-kubernetes-embedded-resource'] && schema.type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    faults.push(schema.type ? invalidValue(at, schema.type, detail) : requiredValue(at, detail));
  } else if (!isTyped) faults.push(requiredValue(at, untyped[level]));
  if (level === 'root' && schema.type && schema.type !== 'object')
    faults.push(invalidValue(at, schema.type, 'must be object at the root'));
}

function checkExtensions(schema: Schema, path: string, faults: FieldFault[]): void {
  if (schema['x-kubernetes-int-or-string'])
    for (const key of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const)
      if (schema[key])
        faults.push(
          invalidValue(`${path}.${key}`, true, 'must be false if x-kubernetes-int-or-string is true'),
        );
  if (!schema['x-kubernetes-embedded-resource']) return;
  if (schema.additionalProperties !== undefined)
    faults.push(
      forbiddenField(
        `${path}.additionalProperties`,
        'must not be used if x-kubernetes-embedded-resource is set',
      ),
    );
  if (!schema['x-kubernetes-preserve-unknown-fields'] && Object.keys(schema.properties ?? {}).length === 0)
    faults.push(
      requiredValue(
        `${path}.properties`,
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ),
    );
}

/** What every object has keeps its type. */
function checkObjectFields({ properties }: Schema, path: string, faults: FieldFault[]): void {
  for (const [name, type] of [
    ['kind', 'string'],
    ['apiVersion', 'string'],
    ['metadata', 'object'],
  ] as const) {
    const found = own(properties, name);
    if (found && found.type !== type)
      faults.push(invalidValue(`${path}.properties[${name}].type`, found.type ?? '', `must be ${type}`));
  }
}

function checkRootMetadata({ properties }: Schema, path: string, faults: FieldFault[]): void {
  const metadata = own(properties, 'metadata');
  if (
    metadata &&
    Object.keys(metadata.properties ?? {}).some((name) => name !== 'name' && name !== 'generateName')
  )
    faults.push(
      forbiddenField(
        `${path}.properties[metadata]`,
        'must not specify anything other than name and generateName, but metadata is implicitly specified',
      ),
    );
}

function checkPattern({ pattern }: Schema, path: string, faults: FieldFault[]): void {
  const fault = pattern === undefined ? undefined : regexpFault(pattern);
  if (pattern !== undefined && fault !== undefined)
    faults.push(
      invalidValue(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${fault}`),
    );
}

function checkJunctors(schema: Schema, path: string, faults: FieldFault[]): void {
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true;
  for (const junctor of ['allOf', 'anyOf', 'oneOf'] as const)
    for (const [index, each] of (schema[junctor] ?? []).entries()) {
      // The one form that may name types: anyOf integer or string.
      if (isIntOrString && Object.keys(each).every((key) => key === 'type' || key === 'anyOf')) continue;
      checkRestriction(each, `${path}.${junctor}[${index}]`, faults);
    }
  if (schema.not) checkRestriction(schema.not, `${path}.not`, faults);
}

/** What says what a field is, rather than restricting it, and what it must be in a restriction. */
const describing = {
  type: 'empty',
  additionalProperties: 'undefined',
  default: 'undefined',
  title: 'empty',
  description: 'empty',
  nullable: 'false',
  externalDocs: 'undefined',
  'x-kubernetes-preserve-unknown-fields': 'false',
  'x-kubernetes-embedded-resource': 'false',
  'x-kubernetes-int-or-string': 'false',
  'x-kubernetes-list-map-keys': 'empty',
  'x-kubernetes-list-type': 'undefined',
  'x-kubernetes-map-type': 'undefined',
  'x-kubernetes-validations': 'empty',
} as const;

function checkRestriction(schema: Schema, path: string, faults: FieldFault[]): void {
  for (const [name, child] of Object.entries(schema.properties ?? {}))
    checkRestriction(child, `${path}.properties[${name}]`, faults);
  if (own(schema.properties, 'metadata'))
    faults.push(forbiddenField(`${path}.properties[metadata]`, 'must not be specified in a nested context'));
  if (schema.items) checkRestriction(schema.items, `${path}.items`, faults);
  for (const [key, must] of Object.entries(describing)) {
    const value = (schema as Readonly<Record<string, unknown>>)[key];
    if (value !== undefined && !(must !== 'undefined' && isEmpty(value)))
      faults.push(forbiddenField(`${path}.${key}`, `must be ${must} to be structural`));
  }
  checkPattern(schema, path, faults);
  checkJunctors(schema, path, faults);
}

const isEmpty = (value: unknown): boolean =>
  value === '' || value === false || (Array.isArray(value) && value.length === 0);

/**
 * A default is validated with its own schema and its rules, never with those above it. Defaults nested below are not
 * filled in first: a rule that reads such a field without has() fails here although it holds for every stored object.
 */
export function validateDefaults(schema: Schema, path: string, isRoot = true): FieldFault[] {
  const faults = schema.default === undefined ? [] : checkDefault(schema.default, schema, path, isRoot);
  if (schema.items) faults.push(...validateDefaults(schema.items, `${path}.items`, false));
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    faults.push(...validateDefaults(property, `${path}.properties[${name}]`, false));
  return faults;
}

function checkDefault(value: Json, schema: Schema, path: string, isRoot: boolean): FieldFault[] {
  const field = `${path}.default`;
  const faults: FieldFault[] = [];
  const pruned = clone(value);
  pruneValue(pruned, schema);
  if (stringifyExact(pruned) !== stringifyExact(value))
    faults.push(invalidValue(field, value, 'must not have unknown fields'));
  const invalid = validateValue(value, schema, undefined, field);
  if (invalid.length > 0) return [...faults, ...invalid];
  return [...faults, ...runRules(value, schema, undefined, { path: field, isRoot }).faults];
}
