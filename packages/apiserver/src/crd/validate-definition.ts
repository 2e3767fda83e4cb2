/** Checks a CustomResourceDefinition as a whole: names, versions, scope, schemas and rules. */
import type { FieldFault } from '../errors.ts';
import { equal } from '../json.ts';
import type { Json } from '../schema/schema.ts';
import { type CustomResourceDefinition, type CustomVersion, isEstablished } from './definition.ts';
import { invalidValue, requiredValue, unsupportedValue } from './faults.ts';
import { validateDefaults } from './validate-defaults.ts';
import { validateRules } from './validate-rules.ts';
import { forbiddenParts, validateStructure } from './validate-structure.ts';

const label = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const labelSentence =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

export function validateDefinition(
  crd: CustomResourceDefinition,
  old?: CustomResourceDefinition,
): FieldFault[] {
  const { spec, metadata } = crd;
  const faults: FieldFault[] = [];
  if (old === undefined && metadata.name !== `${spec.names.plural}.${spec.group}`)
    faults.push(invalidValue('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group'));
  if (spec.group === '') faults.push(requiredValue('spec.group'));
  else if (!spec.group.includes('.'))
    faults.push(invalidValue('spec.group', spec.group, 'should be a domain with at least one dot'));
  if (spec.scope === '' || spec.scope === undefined) faults.push(requiredValue('spec.scope'));
  else if (spec.scope !== 'Cluster' && spec.scope !== 'Namespaced')
    faults.push(unsupportedValue('spec.scope', spec.scope, ['Cluster', 'Namespaced']));
  if (spec.preserveUnknownFields === true)
    faults.push(
      invalidValue(
        'spec.preserveUnknownFields',
        true,
        'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ),
    );
  faults.push(
    ...validateVersions(crd),
    ...validateNames(crd),
    ...validateSchemas(crd, old),
    ...validateStatus(crd),
  );
  return faults;
}

/** Once served, a definition keeps what its stored objects depend on. */
export function validateDefinitionUpdate(
  crd: CustomResourceDefinition,
  old: CustomResourceDefinition,
): FieldFault[] {
  const faults: FieldFault[] = [];
  const fixed = (field: string, value: Json, before: Json): void => {
    if (value !== before) faults.push(invalidValue(field, value, 'field is immutable'));
  };
  if (isEstablished(old)) {
    fixed('spec.scope', crd.spec.scope, old.spec.scope);
    fixed('spec.names.kind', crd.spec.names.kind, old.spec.names.kind);
  }
  fixed('spec.group', crd.spec.group, old.spec.group);
  fixed('spec.names.plural', crd.spec.names.plural, old.spec.names.plural);
  return faults;
}

function validateVersions({ spec }: CustomResourceDefinition): FieldFault[] {
  const faults: FieldFault[] = [];
  const storing = spec.versions.filter((version) => version.storage);
  if (storing.length !== 1)
    faults.push(
      invalidValue(
        'spec.versions',
        spec.versions.map(shownVersion),
        'must have exactly one version marked as storage version',
      ),
    );
  const seen = new Set<string>();
  for (const [index, { name }] of spec.versions.entries()) {
    const field = `spec.versions[${index}].name`;
    if (!label.test(name)) faults.push(invalidValue(field, name, labelSentence));
    if (seen.has(name))
      faults.push(
        invalidValue('spec.versions', spec.versions.map(shownVersion), 'must contain unique version names'),
      );
    seen.add(name);
  }
  return faults;
}

/** As the real server prints a version whose schema is the same for all. */
function shownVersion({ name, served, storage, deprecated, deprecationWarning }: CustomVersion): Json {
  return {
    Name: name,
    Served: served,
    Storage: storage,
    Deprecated: deprecated ?? false,
    DeprecationWarning: deprecationWarning ?? null,
    Schema: null,
    Subresources: null,
    AdditionalPrinterColumns: null,
    SelectableFields: null,
  };
}

function validateNames({ spec: { names } }: CustomResourceDefinition): FieldFault[] {
  const faults: FieldFault[] = [];
  const check = (field: string, value: string | undefined): void => {
    if (value === undefined || value === '') faults.push(requiredValue(`spec.names.${field}`));
    else if (!label.test(value.toLowerCase()))
      faults.push(invalidValue(`spec.names.${field}`, value, labelSentence));
  };
  check('plural', names.plural);
  if (names.singular) check('singular', names.singular);
  check('kind', names.kind);
  check('listKind', names.listKind);
  for (const [index, short] of (names.shortNames ?? []).entries())
    if (!label.test(short))
      faults.push(invalidValue(`spec.names.shortNames[${index}]`, short, labelSentence));
  for (const [index, category] of (names.categories ?? []).entries())
    if (!label.test(category))
      faults.push(invalidValue(`spec.names.categories[${index}]`, category, labelSentence));
  if (names.kind !== '' && names.kind === names.listKind)
    faults.push(invalidValue('spec.names.listKind', names.listKind, 'kind and listKind may not be the same'));
  return faults;
}

/** One schema shared by all versions is reported once, at the place where it would stand for all of them. */
function validateSchemas(
  { spec }: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
): FieldFault[] {
  const schemas = spec.versions.map((version) => version.schema?.openAPIV3Schema);
  const [first] = schemas;
  const isShared = first !== undefined && schemas.every((schema) => equal(schema, first));
  const checked = isShared ? [first] : schemas;
  return checked.flatMap((schema, index) => {
    const path = isShared
      ? 'spec.validation.openAPIV3Schema'
      : `spec.versions[${index}].schema.openAPIV3Schema`;
    if (schema === undefined) return [requiredValue(path)];
    const before = old?.spec.versions.map((version) => version.schema?.openAPIV3Schema);
    if (before?.some((each) => equal(each, schema))) return [];
    const forbidden = forbiddenParts(schema, path);
    if (forbidden.length > 0) return forbidden;
    const structure = validateStructure(schema, path);
    if (structure.length > 0) return structure;
    const rules = validateRules(schema, path);
    return rules.length > 0 ? rules : validateDefaults(schema, path);
  });
}

function validateStatus({ spec, status }: CustomResourceDefinition): FieldFault[] {
  const stored = status.storedVersions ?? [];
  if (stored.length === 0)
    return [
      invalidValue('status.storedVersions', status.storedVersions, 'must have at least one stored version'),
    ];
  const faults: FieldFault[] = [];
  const names = new Set(spec.versions.map((version) => version.name));
  for (const [index, name] of stored.entries())
    if (!names.has(name))
      faults.push(
        invalidValue(
          `status.storedVersions[${index}]`,
          name,
          `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
        ),
      );
  const storage = spec.versions.findLast((version) => version.storage)?.name;
  if (faults.length === 0 && storage !== undefined && !stored.includes(storage))
    faults.push(invalidValue('status.storedVersions', stored, `must have the storage version ${storage}`));
  return faults;
}
