/** Whether a CRD's schema is structural: every field has one type, and junctors only restrict. */
import type { FieldFault } from '../../api/errors.ts';
import type { Schema } from '../../schema/schema.ts';
import { forbiddenField, invalidValue, requiredValue } from './faults.ts';

const types = new Set(['object', 'array', 'string', 'integer', 'number', 'boolean']);

export function validateStructure(schema: Schema, path: string): FieldFault[] {
  const faults: FieldFault[] = [];
  if (!schema.type) faults.push(requiredValue(`${path}.type`, 'must not be empty at the root'));
  else if (schema.type !== 'object')
    faults.push(invalidValue(`${path}.type`, schema.type, 'must be object at the root'));
  const metadata = schema.properties?.['metadata'];
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
  checkNode(schema, path, true, faults);
  return faults;
}

function checkNode(schema: Schema, path: string, isRoot: boolean, faults: FieldFault[]): void {
  if (schema.type && !types.has(schema.type))
    faults.push({
      reason: 'FieldValueNotSupported',
      field: `${path}.type`,
      message: `Unsupported value: ${JSON.stringify(schema.type)}: supported values: "array", "boolean", "integer", "number", "object", "string"`,
    });
  if (schema['x-kubernetes-int-or-string'] && schema.type)
    faults.push(forbiddenField(`${path}.type`, 'must be empty if x-kubernetes-int-or-string is true'));
  if (schema['x-kubernetes-embedded-resource'] && schema.type !== 'object')
    faults.push(
      invalidValue(
        `${path}.type`,
        schema.type ?? '',
        'must be object if x-kubernetes-embedded-resource is true',
      ),
    );
  if (schema.type === 'array' && !schema.items)
    faults.push(requiredValue(`${path}.items`, 'must be specified'));
  checkJunctors(schema, path, faults);
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    const at = `${path}.properties[${name}]`;
    mustHaveType(child, at, 'must not be empty for specified object fields', faults);
    checkNode(child, at, false, faults);
  }
  if (schema.items) {
    mustHaveType(schema.items, `${path}.items`, 'must not be empty for specified array items', faults);
    checkNode(schema.items, `${path}.items`, false, faults);
  }
  if (typeof schema.additionalProperties === 'object') {
    const at = `${path}.additionalProperties`;
    if (isRoot) faults.push(forbiddenField(at, 'must not be used at the root'));
    mustHaveType(schema.additionalProperties, at, 'must not be empty for specified object fields', faults);
    checkNode(schema.additionalProperties, at, false, faults);
  }
}

function mustHaveType(schema: Schema, path: string, sentence: string, faults: FieldFault[]): void {
  const isTyped =
    schema.type || schema['x-kubernetes-int-or-string'] || schema['x-kubernetes-preserve-unknown-fields'];
  if (!isTyped) faults.push(requiredValue(`${path}.type`, sentence));
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

/** What says what a field is, rather than restricting it. */
const describing = [
  'description',
  'type',
  'title',
  'default',
  'nullable',
  'additionalProperties',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
] as const;

function checkRestriction(schema: Schema, path: string, faults: FieldFault[]): void {
  for (const [name, child] of Object.entries(schema.properties ?? {}))
    checkRestriction(child, `${path}.properties[${name}]`, faults);
  if (schema.items) checkRestriction(schema.items, `${path}.items`, faults);
  for (const key of describing)
    if (schema[key] !== undefined)
      faults.push(forbiddenField(`${path}.${key}`, 'must be empty to be structural'));
  checkJunctors(schema, path, faults);
}
