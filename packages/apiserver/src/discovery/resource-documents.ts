/** Discovery documents: group lists, resource lists, and both at once (aggregated). */

import type { JsonObject } from '../api/types.ts';
import { type ApiGroup, apiGroups } from '../resource/api-versions.ts';
import type { Registry } from '../resource/registry.ts';
import { type ListedResource, listedResources } from './listed-resources.ts';

export function groupDocument({ name, versions }: ApiGroup): JsonObject {
  const listed = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: listed, preferredVersion: listed[0] ?? { groupVersion: '', version: '' } };
}

export function groupListDocument(registry: Registry): JsonObject {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: apiGroups(registry).map(groupDocument) };
}

export function resourceListDocument(registry: Registry, group: string, version: string): JsonObject {
  return {
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources: listedResources(registry, group, version).map((each) => ({
      name: each.name,
      singularName: each.singular,
      namespaced: each.namespaced,
      ...(each.of === undefined ? {} : { group: each.of.group, version: each.of.version }),
      kind: each.kind,
      verbs: [...each.verbs],
      ...(each.shortNames.length > 0 ? { shortNames: [...each.shortNames] } : {}),
      ...(each.categories.length > 0 ? { categories: [...each.categories] } : {}),
      ...(each.storageVersionHash === undefined ? {} : { storageVersionHash: each.storageVersionHash }),
    })),
  };
}

export function aggregatedDocument(registry: Registry, isCore: boolean): JsonObject {
  const groups: ApiGroup[] = isCore ? [{ name: '', versions: ['v1'] }] : apiGroups(registry);
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: (name === '' ? {} : { name }) as JsonObject,
      versions: versions.map((version) => ({
        version,
        resources: aggregatedResources(registry, name, version),
        freshness: 'Current',
      })),
    })),
  };
}

function aggregatedResources(registry: Registry, group: string, version: string): JsonObject[] {
  const listed = listedResources(registry, group, version);
  return listed
    .filter(({ name }) => !name.includes('/'))
    .map((each) => {
      const subresources = listed.filter(({ name }) => name.startsWith(`${each.name}/`));
      return {
        resource: each.name,
        responseKind: responseKind(each, group, version),
        scope: each.namespaced ? 'Namespaced' : 'Cluster',
        singularResource: each.singular,
        verbs: [...each.verbs],
        ...(each.shortNames.length > 0 ? { shortNames: [...each.shortNames] } : {}),
        ...(each.categories.length > 0 ? { categories: [...each.categories] } : {}),
        ...(subresources.length > 0
          ? {
              subresources: subresources.map((subresource) => ({
                subresource: subresource.name.slice(each.name.length + 1),
                responseKind: responseKind(subresource, group, version),
                verbs: [...subresource.verbs],
              })),
            }
          : {}),
      };
    });
}

/** Built-in kinds leave group and version empty where they are those of the list; custom ones name them. */
function responseKind({ of, kind, custom }: ListedResource, group: string, version: string): JsonObject {
  if (of) return { group: of.group, version: of.version, kind };
  return custom ? { group, version, kind } : { group: '', version: '', kind };
}
