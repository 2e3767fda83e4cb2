/** What OpenAPI schemas may not say in a definition: unsupported words, and list and map types that do not fit. */
import type { FieldFault } from '../../api/errors.ts';
import { own, type Schema } from '../../schema/schema.ts';
import { forbiddenField, invalidValue, requiredValue, unsupportedValue } from './faults.ts';

/** Words that no structural schema can be made of. */
const unsupported = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];

/** Whether the structure can be looked at at all. */
export function isConvertible(schema: Schema): boolean {
  return (
    !unsupported.some((key) => (schema as { [name: string]: unknown })[key] !== undefined) &&
    !Array.isArray(schema.items) &&
    [
      ...Object.values(schema.properties ?? {}),
      ...(schema.items ? [schema.items] : []),
      ...(typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : []),
    ].every(isConvertible)
  );
}

/** What no schema may have, wherever it stands. */
export function forbiddenParts(schema: Schema, path: string): FieldFault[] {
  const faults: FieldFault[] = [];
  for (const key of unsupported)
    if ((schema as { [name: string]: unknown })[key] !== undefined)
      faults.push(forbiddenField(`${path}.${key}`, `${key} is not supported`));
  if (schema.uniqueItems)
    faults.push(
      forbiddenField(
        `${path}.uniqueItems`,
        'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ),
    );
  if (
    typeof schema.additionalProperties === 'object' &&
    schema.properties &&
    Object.keys(schema.properties).length > 0
  )
    faults.push(
      forbiddenField(
        `${path}.additionalProperties`,
        'additionalProperties and properties are mutual exclusive',
      ),
    );
  if (schema.additionalProperties === false)
    faults.push(
      forbiddenField(`${path}.additionalProperties`, 'additionalProperties cannot be set to false'),
    );
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    faults.push(
      invalidValue(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'),
    );
  faults.push(...mapTypeFaults(schema, path), ...listTypeFaults(schema, path));
  for (const [name, child] of Object.entries(schema.properties ?? {}))
    faults.push(...forbiddenParts(child, `${path}.properties[${name}]`));
  if (Array.isArray(schema.items))
    faults.push(forbiddenField(`${path}.items`, 'items must be a schema object and not an array'));
  else if (schema.items) faults.push(...forbiddenParts(schema.items, `${path}.items`));
  if (typeof schema.additionalProperties === 'object')
    faults.push(...forbiddenParts(schema.additionalProperties, `${path}.additionalProperties`));
  return faults;
}

function mapTypeFaults(schema: Schema, path: string): FieldFault[] {
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType === undefined) return [];
  const faults = typeFaults(schema, path, 'object', 'x-kubernetes-map-type');
  if (mapType !== 'atomic' && mapType !== 'granular')
    faults.push(unsupportedValue(`${path}.x-kubernetes-map-type`, mapType, ['atomic', 'granular']));
  return faults;
}

function typeFaults(schema: Schema, path: string, type: string, because: string): FieldFault[] {
  if (schema.type === type) return [];
  const detail = `must be ${type} if ${because} is specified`;
  return [
    schema.type ? invalidValue(`${path}.type`, schema.type, detail) : requiredValue(`${path}.type`, detail),
  ];
}

function listTypeFaults(schema: Schema, path: string): FieldFault[] {
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const field = `${path}.x-kubernetes-list-type`;
  const faults: FieldFault[] = [];
  if (listType !== undefined) faults.push(...typeFaults(schema, path, 'array', 'x-kubernetes-list-type'));
  if (listType === 'set' && schema.type === 'array') faults.push(...setFaults(schema, path));
  if (listType !== undefined && !['atomic', 'set', 'map'].includes(listType))
    faults.push(unsupportedValue(field, listType, ['atomic', 'set', 'map']));
  if (keys.length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    faults.push(
      listType === undefined ? requiredValue(field, detail) : invalidValue(field, listType, detail),
    );
  }
  if (listType === 'map') faults.push(...keyedListFaults(schema, keys, path));
  if ((listType === 'map' || listType === 'set') && schema.items?.nullable === true)
    faults.push(
      forbiddenField(
        `${path}.items.nullable`,
        `cannot be nullable when x-kubernetes-list-type is ${listType}`,
      ),
    );
  if (listType === 'map') faults.push(...keyFaults(schema, keys, path));
  return faults;
}

/** Entries of a set are compared whole, so nothing in them may be merged. */
function setFaults({ items }: Schema, path: string): FieldFault[] {
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const listType = items?.['x-kubernetes-list-type'];
  if (items?.type === 'array' && listType !== undefined && listType !== 'atomic')
    return [invalidValue(`${path}.items.x-kubernetes-list-type`, listType, detail)];
  if (items?.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic')
    return [invalidValue(`${path}.items.x-kubernetes-map-type`, listType ?? null, detail)];
  return [];
}

function keyedListFaults({ items }: Schema, keys: readonly string[], path: string): FieldFault[] {
  const field = `${path}.x-kubernetes-list-map-keys`;
  const faults: FieldFault[] = [];
  if (keys.length === 0)
    faults.push(requiredValue(field, 'must not be empty if x-kubernetes-list-type is map'));
  if (!items)
    return [...faults, requiredValue(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map')];
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    return [...faults, invalidValue(`${path}.items.type`, items.type ?? '', detail)];
  }
  for (const [index, key] of keys.entries()) {
    const property = own(items.properties, key);
    if (!property)
      faults.push(invalidValue(field, [...keys], 'entries must all be names of item properties'));
    else if (property.type === 'array' || property.type === 'object')
      faults.push(
        invalidValue(
          `${path}.items.properties[${key}].type`,
          items.type,
          "must be a scalar type if parent array's x-kubernetes-list-type is map",
        ),
      );
    if (keys.indexOf(key) < index)
      faults.push(invalidValue(field, [...keys], 'must not contain duplicate entries'));
  }
  return faults;
}

function keyFaults({ items }: Schema, keys: readonly string[], path: string): FieldFault[] {
  const faults: FieldFault[] = [];
  for (const key of keys) {
    const property = own(items?.properties, key);
    const at = `${path}.items.properties[${key}]`;
    if (!property) continue;
    if (property.default === undefined && !items?.required?.includes(key))
      faults.push(
        requiredValue(
          `${at}.default`,
          'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
        ),
      );
    if (property.nullable === true)
      faults.push(
        forbiddenField(
          `${at}.nullable`,
          'this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
        ),
      );
  }
  return faults;
}
