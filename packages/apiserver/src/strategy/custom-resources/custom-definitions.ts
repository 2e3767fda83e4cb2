/** The resources a CustomResourceDefinition brings: one per served version. */

import { clone } from '../../api/json.ts';
import { asJson } from '../../api/typed.ts';
import type { KubeObject } from '../../api/types.ts';
import { byVersion } from '../../resource/api-versions.ts';
import { allVerbs, type ResourceDefinition, type Subresource } from '../../resource/resource-definition.ts';
import type { Schema } from '../../schema/schema.ts';
import { customResourceSchema } from '../../schema/shape.ts';
import { type CustomKind, customHooks, shapeObject, statusPart } from './custom-hooks.ts';
import { pruneValue } from './default-value.ts';
import type { CustomResourceDefinition, CustomVersion } from './definition.ts';
import { readPath } from './json-path.ts';
import { scaleView } from './scale-view.ts';

const anything: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

export function customDefinitions(
  crd: CustomResourceDefinition,
  isTerminating: () => boolean,
): ResourceDefinition[] {
  const kinds = new Map(
    crd.spec.versions.map((version) => [version.name, kindOf(crd, version, isTerminating)] as const),
  );
  return crd.spec.versions
    .filter((version) => version.served)
    .map((version) => customDefinition(crd, version, kinds));
}

/** The kinds of all versions by name, the ones that are not served included. */
type Kinds = ReadonlyMap<string, CustomKind>;

function kindOf(
  { spec, status }: CustomResourceDefinition,
  version: CustomVersion,
  isTerminating: () => boolean,
): CustomKind {
  const schema = version.schema?.openAPIV3Schema ?? anything;
  return {
    group: spec.group,
    plural: status.acceptedNames.plural,
    namespaced: spec.scope === 'Namespaced',
    schema,
    whole: customResourceSchema(schema),
    hasStatus: version.subresources?.status !== undefined,
    isTerminating,
  };
}

function customDefinition(
  { spec, status }: CustomResourceDefinition,
  version: CustomVersion,
  kinds: Kinds,
): ResourceDefinition {
  const { group, versions } = spec;
  const names = status.acceptedNames;
  const kind = kinds.get(version.name) as CustomKind;
  const storageVersion = versions.find((each) => each.storage)?.name ?? version.name;
  const subresources: Record<string, Subresource> = {};
  if (version.subresources?.status) subresources['status'] = statusPart(kind);
  if (version.subresources?.scale) subresources['scale'] = scaleView(version.subresources.scale);
  const apiVersion = `${group}/${version.name}`;
  return {
    group,
    version: version.name,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: kind.namespaced,
    verbs: allVerbs,
    subresources,
    hooks: customHooks(kind),
    storage: `${group}/${names.plural}`,
    storageVersion,
    fromStorage: reader(kinds, storageVersion, apiVersion),
    toStorage: writer(kinds, storageVersion, apiVersion),
    custom: true,
    schema: kind.whole,
    countsGeneration: true,
    requireResourceVersion: true,
    selectableFields: Object.fromEntries(
      (version.selectableFields ?? []).map(({ jsonPath }) => [
        jsonPath.replace(/^\./, ''),
        (object: KubeObject) => textOf(readPath(object, jsonPath)),
      ]),
    ),
    ...(version.additionalPrinterColumns ? { printerColumns: version.additionalPrinterColumns } : {}),
    ...(version.deprecated
      ? { deprecationWarning: version.deprecationWarning ?? deprecation(spec, version) }
      : {}),
  };
}

/** Says which version to use instead, when there is one that is not deprecated too. */
function deprecation(
  { group, names, versions }: CustomResourceDefinition['spec'],
  version: CustomVersion,
): string {
  const better = versions
    .filter((each) => each.served && !each.deprecated)
    .map((each) => each.name)
    .toSorted(byVersion)[0];
  const sentence = `${group}/${version.name} ${names.kind} is deprecated`;
  return better === undefined ? sentence : `${sentence}; use ${group}/${better} ${names.kind}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : '';
}

const versionOf = (apiVersion: string | undefined): string => apiVersion?.split('/')[1] ?? '';

/**
 * Stored objects are read with today's schema of the version they are stored in: it prunes and fills in defaults. Another
 * version only leaves out what it does not know. Each object is shaped once, as stored ones never change.
 */
function reader(kinds: Kinds, storage: string, apiVersion: string): (stored: KubeObject) => KubeObject {
  const read = new WeakMap<KubeObject, KubeObject>();
  return (stored) => {
    let object = read.get(stored);
    if (object === undefined) {
      object = clone(stored);
      const kind = kinds.get(versionOf(stored.apiVersion)) ?? kinds.get(storage);
      const own = kinds.get(versionOf(apiVersion));
      if (kind) shapeObject(kind, object);
      if (own && own !== kind) pruneValue(asJson(object), own.whole);
      object.apiVersion = apiVersion;
      read.set(stored, object);
    }
    return object;
  };
}

/** What the storage version does not know is lost, also when a default of another version put it there. */
function writer(kinds: Kinds, storage: string, apiVersion: string): (object: KubeObject) => KubeObject {
  const kind = kinds.get(storage);
  return (object) => {
    if (kind === undefined || versionOf(apiVersion) === storage) return object;
    const stored = clone(object);
    stored.apiVersion = `${kind.group}/${storage}`;
    pruneValue(asJson(stored), kind.whole);
    return stored;
  };
}
