/** The resources of one version as discovery lists them, served or not, in the order a real server gives. */
import { createHash } from 'node:crypto';
import type { Registry } from '../resource/registry.ts';
import type { ResourceDefinition, Verb } from '../resource/resource-definition.ts';
import { unservedResources } from '../resource/unserved.ts';

export interface ListedResource {
  /** `pods`, or `pods/status`. */
  readonly name: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly kind: string;
  /** Set where the kind is of another group or version. */
  readonly of: { readonly group: string; readonly version: string } | undefined;
  readonly verbs: readonly Verb[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly storageVersionHash: string | undefined;
  readonly custom: boolean;
}

/** Custom resources list their verbs in an order of their own. */
const customVerbs: readonly Verb[] = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
];

export function listedResources(registry: Registry, group: string, version: string): ListedResource[] {
  const served = registry
    .all()
    .filter((definition) => definition.group === group && definition.version === version);
  const custom = served.filter((definition) => definition.custom).flatMap(withSubresources);
  const builtin = served.filter((definition) => !definition.custom).flatMap(withSubresources);
  const names = new Set(builtin.map(({ name }) => name));
  for (const each of unservedResources)
    if (each.group === group && each.version === version && !names.has(each.name))
      builtin.push({
        name: each.name,
        singular: each.singular,
        namespaced: each.namespaced,
        kind: each.kind,
        of: undefined,
        verbs: each.verbs,
        shortNames: each.shortNames,
        categories: each.categories,
        storageVersionHash: each.stored ? storageHash(group, version, each.kind) : undefined,
        custom: false,
      });
  return [...builtin.toSorted((a, b) => (a.name < b.name ? -1 : 1)), ...custom];
}

function withSubresources(definition: ResourceDefinition): ListedResource[] {
  const { plural, singular, namespaced, kind, shortNames, categories, custom } = definition;
  const isStored = definition.verbs.includes('list');
  const main: ListedResource = {
    name: plural,
    singular,
    namespaced,
    kind,
    of: undefined,
    verbs: custom ? customVerbs : definition.verbs,
    shortNames,
    categories,
    storageVersionHash: isStored ? hashOf(definition) : undefined,
    custom,
  };
  const subresources = Object.entries(definition.subresources).map(([name, subresource]): ListedResource => {
    const other = subresource.type === 'part' ? undefined : subresource.kind;
    const isForeign =
      other !== undefined && (other.group !== definition.group || other.version !== definition.version);
    return {
      name: `${plural}/${name}`,
      singular: '',
      namespaced,
      kind: other?.kind ?? kind,
      of: isForeign ? { group: other.group, version: other.version } : undefined,
      verbs: subresource.verbs,
      shortNames: [],
      categories: [],
      storageVersionHash: undefined,
      custom,
    };
  });
  return [main, ...subresources];
}

/** Events of both groups are stored as the core kind. */
function hashOf({ group, version, kind, plural, storage, storageVersion }: ResourceDefinition): string {
  const storedGroup = storage.endsWith(`/${plural}`) ? storage.slice(0, -plural.length - 1) : group;
  return storageHash(storedGroup, storageVersion ?? version, kind);
}

/** Kinds that a real server of this release still stores in an older version. */
const storedInBeta = new Set([
  'CustomResourceDefinition',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
]);

function storageHash(group: string, served: string, kind: string): string {
  const version = group.endsWith('.k8s.io') && storedInBeta.has(kind) ? 'v1beta1' : served;
  return createHash('sha256')
    .update(`${group}/${version}/${kind}`)
    .digest()
    .subarray(0, 8)
    .toString('base64');
}
