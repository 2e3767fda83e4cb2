/** What `allOf`, `anyOf`, `oneOf` and `not` at the root of a schema restrict must be specified outside of them too. */
import type { FieldFault } from '../../api/errors.ts';
import { own, type Schema } from '../../schema/schema.ts';
import { requiredValue } from './faults.ts';

export function completenessFaults(schema: Schema, path: string): FieldFault[] {
  return inJunctors(schema, schema, path, path);
}

function inJunctors(restriction: Schema, schema: Schema, path: string, at: string): FieldFault[] {
  const faults = restriction.not ? inRestriction(restriction.not, schema, path, `${at}.not`) : [];
  for (const junctor of ['allOf', 'anyOf', 'oneOf'] as const)
    for (const [index, each] of (restriction[junctor] ?? []).entries())
      faults.push(...inRestriction(each, schema, path, `${at}.${junctor}[${index}]`));
  return faults;
}

function inRestriction(
  restriction: Schema,
  schema: Schema | undefined,
  path: string,
  at: string,
): FieldFault[] {
  if (schema === undefined) return [requiredValue(path, `because it is defined in ${at}`)];
  const faults = inJunctors(restriction, schema, path, at);
  if (restriction.items)
    faults.push(...inRestriction(restriction.items, schema.items, `${path}.items`, `${at}.items`));
  for (const [name, child] of Object.entries(restriction.properties ?? {})) {
    const field = `properties[${name}]`;
    faults.push(...inRestriction(child, own(schema.properties, name), `${path}.${field}`, `${at}.${field}`));
  }
  return faults;
}
