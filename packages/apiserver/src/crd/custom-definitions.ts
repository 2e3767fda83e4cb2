/** The resources a CustomResourceDefinition brings: one per served version. */
import { byVersion } from '../discovery/api-versions.ts';
import { clone } from '../json.ts';
import { allVerbs, type ResourceDefinition, type Subresource } from '../registry/resource-definition.ts';
import type { Schema } from '../schema/schema.ts';
import { customResourceSchema } from '../schema/shape.ts';
import type { KubeObject } from '../types.ts';
import { type CustomKind, customHooks, shapeObject, statusPart } from './custom-hooks.ts';
import type { CustomResourceDefinition, CustomVersion } from './definition.ts';
import { readPath } from './json-path.ts';
import { scaleView } from './scale-view.ts';

const anything: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

export function customDefinitions(
  crd: CustomResourceDefinition,
  isTerminating: () => boolean,
): ResourceDefinition[] {
  return crd.spec.versions
    .filter((version) => version.served)
    .map((version) => customDefinition(crd, version, isTerminating));
}

function customDefinition(
  { spec, status }: CustomResourceDefinition,
  version: CustomVersion,
  isTerminating: () => boolean,
): ResourceDefinition {
  const { group, versions } = spec;
  const names = status.acceptedNames;
  const schema = version.schema?.openAPIV3Schema ?? anything;
  const kind: CustomKind = {
    group,
    plural: names.plural,
    namespaced: spec.scope === 'Namespaced',
    schema,
    whole: customResourceSchema(schema),
    hasStatus: version.subresources?.status !== undefined,
    isTerminating,
  };
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
    storageVersion: versions.find((each) => each.storage)?.name ?? version.name,
    fromStorage: reader(kind, apiVersion),
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

/** Stored objects are read with today's schema; each is shaped once, as they never change. */
function reader(kind: CustomKind, apiVersion: string): (stored: KubeObject) => KubeObject {
  const read = new WeakMap<KubeObject, KubeObject>();
  return (stored) => {
    let object = read.get(stored);
    if (object === undefined) {
      object = clone(stored);
      object.apiVersion = apiVersion;
      shapeObject(kind, object);
      read.set(stored, object);
    }
    return object;
  };
}
