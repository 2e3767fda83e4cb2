/** Checks one schema of a definition: its structure, then its defaults, then its rules. */

import type { FieldFault } from '../../api/errors.ts';
import { equal } from '../../api/json.ts';
import { asJson } from '../../api/typed.ts';
import type { Schema } from '../../schema/schema.ts';
import type { CustomResourceDefinition } from './definition.ts';
import { forbiddenField, invalidValue } from './faults.ts';
import { forbiddenParts, isConvertible } from './validate-openapi.ts';
import { validateRules } from './validate-rules.ts';
import { validateDefaults, validateStructure } from './validate-structure.ts';

/** A schema that `old` has already is not validated again: accepted schemas stay valid. */
export function validateSchema(
  schema: Schema | undefined,
  path: string,
  hasStatus: boolean,
  old: CustomResourceDefinition | undefined,
): FieldFault[] {
  if (schema === undefined) return [];
  if (old?.spec.versions.some((version) => equal(version.schema?.openAPIV3Schema, schema))) return [];
  const faults = [...rootFaults(schema, path, hasStatus)];
  const structure = isConvertible(schema) ? structureFaults(schema, path) : undefined;
  const forbidden = forbiddenParts(schema, path);
  faults.push(...(structure ?? []), ...forbidden);
  // Rules are compiled only where everything else is sound.
  if (structure?.length === 0 && forbidden.length === 0) faults.push(...validateRules(schema, path));
  return faults;
}

function structureFaults(schema: Schema, path: string): FieldFault[] {
  const structure = validateStructure(schema, path);
  return structure.length > 0 ? structure : validateDefaults(schema, path);
}

/** What the root may contain if status is a subresource, with the names that the real server prints. */
const besideStatus: Readonly<Record<string, string>> = {
  description: 'Description',
  type: 'Type',
  format: 'Format',
  title: 'Title',
  maximum: 'Maximum',
  exclusiveMaximum: 'ExclusiveMaximum',
  minimum: 'Minimum',
  exclusiveMinimum: 'ExclusiveMinimum',
  maxLength: 'MaxLength',
  minLength: 'MinLength',
  pattern: 'Pattern',
  maxItems: 'MaxItems',
  minItems: 'MinItems',
  uniqueItems: 'UniqueItems',
  multipleOf: 'MultipleOf',
  required: 'Required',
  items: 'Items',
  properties: 'Properties',
  externalDocs: 'ExternalDocs',
  example: 'Example',
  'x-kubernetes-preserve-unknown-fields': 'XPreserveUnknownFields',
  'x-kubernetes-validations': 'XValidations',
};

function rootFaults(schema: Schema, path: string, hasStatus: boolean): FieldFault[] {
  const faults: FieldFault[] = [];
  if (hasStatus && schema.type !== undefined && schema.type !== 'object')
    faults.push(
      invalidValue(
        `${path}.type`,
        schema.type,
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
      ),
    );
  else if (hasStatus && Object.keys(schema).some((key) => !(key in besideStatus)))
    faults.push(
      invalidValue(
        path,
        asJson(schema),
        `only [${Object.values(besideStatus).join(' ')}] fields are allowed at the root of the schema if the status subresource is enabled`,
      ),
    );
  if (schema.nullable === true)
    faults.push(forbiddenField(`${path}.nullable`, 'nullable cannot be true at the root'));
  return faults;
}
