/** Checks a CustomResourceDefinition as a whole, in the order of the real server: names, versions, schemas, conversion. */
import { dnsLabel1035, dnsSubdomain } from '@slurm-operator/kubernetes-values';
import type { FieldFault } from '../../api/errors.ts';
import { equal } from '../../api/json.ts';
import type { Json } from '../../schema/schema.ts';
import { type CustomResourceDefinition, type CustomVersion, isEstablished } from './definition.ts';
import { invalidValue, requiredValue, unsupportedValue } from './faults.ts';
import { validateConversion } from './validate-conversion.ts';
import { validateSchema } from './validate-schema.ts';
import {
  validateColumns,
  validateDeprecation,
  validateSelectableFields,
  validateSubresources,
} from './validate-version-parts.ts';

export function validateDefinition(
  crd: CustomResourceDefinition,
  old?: CustomResourceDefinition,
): FieldFault[] {
  const { spec, metadata } = crd;
  const faults: FieldFault[] = [];
  if (old === undefined && metadata.name !== `${spec.names.plural}.${spec.group}`)
    faults.push(invalidValue('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group'));
  faults.push(
    ...validateGroup(spec.group),
    ...validateScope(spec.scope),
    ...validateVersions(crd, old),
    ...validateNames(crd),
    ...validateShared(crd, old),
    ...validateConversion(spec.conversion, 'spec.conversion'),
    ...validateStatus(crd),
    ...validateApproval(crd),
  );
  if (spec.preserveUnknownFields === true)
    faults.push(
      invalidValue(
        'spec.preserveUnknownFields',
        true,
        'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ),
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

function validateGroup(group: string): FieldFault[] {
  if (group === '') return [requiredValue('spec.group')];
  const texts = dnsSubdomain(group);
  if (texts.length > 0) return [invalidValue('spec.group', group, texts.join(','))];
  return group.includes('.')
    ? []
    : [invalidValue('spec.group', group, 'should be a domain with at least one dot')];
}

function validateScope(scope: string | undefined): FieldFault[] {
  if (scope === '' || scope === undefined) return [requiredValue('spec.scope')];
  return scope === 'Cluster' || scope === 'Namespaced'
    ? []
    : [unsupportedValue('spec.scope', scope, ['Cluster', 'Namespaced'])];
}

/** A part that is the same in all versions is reported once, at the place where it would stand for all of them. */
function shared<Part>(
  { spec: { versions } }: CustomResourceDefinition,
  read: (version: CustomVersion) => Part | undefined,
): Part | undefined {
  const [first, ...rest] = versions.map(read);
  return rest.every((part) => equal(part, first)) ? first : undefined;
}

const schemaOf = (version: CustomVersion) => version.schema?.openAPIV3Schema;
const subresourcesOf = (version: CustomVersion) => version.subresources;
const columnsOf = (version: CustomVersion) => version.additionalPrinterColumns;
const selectableOf = (version: CustomVersion) => version.selectableFields;

function validateVersions(crd: CustomResourceDefinition, old?: CustomResourceDefinition): FieldFault[] {
  const { versions } = crd.spec;
  const faults: FieldFault[] = [];
  for (const [index, version] of versions.entries())
    if (schemaOf(version) === undefined)
      faults.push(requiredValue(`spec.versions[${index}].schema.openAPIV3Schema`));
  for (const [index, version] of versions.entries()) {
    const at = `spec.versions[${index}]`;
    const texts = dnsLabel1035(version.name);
    if (texts.length > 0) faults.push(invalidValue(`${at}.name`, version.name, texts.join(',')));
    faults.push(...validateDeprecation(version, at), ...validateOwnParts(crd, version, at, old));
  }
  const refuse = (detail: string): void => {
    faults.push(invalidValue('spec.versions', versions.map(shownVersion), detail));
  };
  if (new Set(versions.map(({ name }) => name)).size < versions.length)
    refuse('must contain unique version names');
  if (versions.filter(({ storage }) => storage).length !== 1)
    refuse('must have exactly one version marked as storage version');
  return faults;
}

function validateOwnParts(
  crd: CustomResourceDefinition,
  version: CustomVersion,
  at: string,
  old?: CustomResourceDefinition,
): FieldFault[] {
  const schema = schemaOf(version);
  return [
    ...(shared(crd, schemaOf) === undefined
      ? validateSchema(
          schema,
          `${at}.schema.openAPIV3Schema`,
          version.subresources?.status !== undefined,
          old,
        )
      : []),
    ...(shared(crd, subresourcesOf) === undefined
      ? validateSubresources(version.subresources, `${at}.subresources`)
      : []),
    ...(shared(crd, columnsOf) === undefined ? validateColumns(version.additionalPrinterColumns, at) : []),
    ...(shared(crd, selectableOf) === undefined
      ? validateSelectableFields(version.selectableFields, schema, at)
      : []),
  ];
}

function validateShared(crd: CustomResourceDefinition, old?: CustomResourceDefinition): FieldFault[] {
  const schema = shared(crd, schemaOf);
  const hasStatus = crd.spec.versions.some(({ subresources }) => subresources?.status !== undefined);
  return [
    ...validateSchema(schema, 'spec.validation.openAPIV3Schema', hasStatus, old),
    ...validateSubresources(shared(crd, subresourcesOf), 'spec.subresources'),
    ...validateColumns(shared(crd, columnsOf), 'spec'),
    ...validateSelectableFields(shared(crd, selectableOf), schema, 'spec'),
  ];
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
  const { plural, singular = '', kind, listKind = '', shortNames = [], categories = [] } = names;
  for (const [field, value] of Object.entries({ plural, singular, kind, listKind }))
    if (value === '') faults.push(requiredValue(`spec.names.${field}`));
  const check = (field: string, value: string, before = '', checked = value): void => {
    const texts = dnsLabel1035(checked);
    if (texts.length > 0)
      faults.push(invalidValue(`spec.names.${field}`, value, `${before}${texts.join(',')}`));
  };
  const mixedCase = 'may have mixed case, but should otherwise match: ';
  if (plural !== '') check('plural', plural);
  if (singular !== '') check('singular', singular);
  if (kind !== '') check('kind', kind, mixedCase, kind.toLowerCase());
  if (listKind !== '') check('listKind', listKind, mixedCase, listKind.toLowerCase());
  for (const [index, short] of shortNames.entries()) check(`shortNames[${index}]`, short);
  if (kind !== '' && kind === listKind)
    faults.push(invalidValue('spec.names.listKind', listKind, 'kind and listKind may not be the same'));
  for (const [index, category] of categories.entries()) check(`categories[${index}]`, category);
  return faults;
}

function validateStatus({ spec, status }: CustomResourceDefinition): FieldFault[] {
  const stored = status.storedVersions ?? [];
  const field = 'status.storedVersions';
  if (stored.length === 0)
    return [invalidValue(field, status.storedVersions, 'must have at least one stored version')];
  const faults: FieldFault[] = [];
  for (const { name, storage } of spec.versions)
    if (storage && !stored.includes(name))
      faults.push(invalidValue(field, stored, `must have the storage version ${name}`));
  const names = new Set(spec.versions.map((version) => version.name));
  for (const [index, name] of stored.entries())
    if (!names.has(name))
      faults.push(
        invalidValue(
          `${field}[${index}]`,
          name,
          `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
        ),
      );
  return faults;
}

/** Groups of the Kubernetes project itself are reserved for what it has approved. */
function validateApproval({ spec: { group }, metadata }: CustomResourceDefinition): FieldFault[] {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return [];
  const key = 'api-approved.kubernetes.io';
  const field = `metadata.annotations[${key}]`;
  const value = metadata.annotations?.[key] ?? '';
  const must = `protected groups must have approval annotation "${key}"`;
  const see = 'see https://github.com/kubernetes/enhancements/pull/1111';
  if (value === '') return [requiredValue(field, `${must}, ${see}`)];
  if (value.startsWith('unapproved') || (URL.canParse(value) && new URL(value).host !== '')) return [];
  return [
    invalidValue(field, value, `${must} with either a URL or a reason starting with "unapproved", ${see}`),
  ];
}
