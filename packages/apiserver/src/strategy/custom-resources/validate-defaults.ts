/** Checks the defaults that a definition brings along, each exactly as written. */
import type { FieldFault } from '../../api/errors.ts';
import { clone, stringifyExact } from '../../api/json.ts';
import type { Json, Schema } from '../../schema/schema.ts';
import { invalidValue } from './faults.ts';
import { pruneValue } from './prune-value.ts';
import { runRules } from './run-rules.ts';
import { validateValue } from './validate-value.ts';

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
