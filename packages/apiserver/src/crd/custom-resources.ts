/** Serves every version of a stored CustomResourceDefinition, without its schema. */
import type { CustomResources } from '../ports/custom-resources.ts';
import type { ServerParts } from '../ports/server-parts.ts';
import { allVerbs, type PartSubresource, type ResourceDefinition } from '../registry/resource-definition.ts';
import type { Schema } from '../schema/schema.ts';
import { customResourceSchema } from '../schema/shape.ts';
import type { KubeObject } from '../types.ts';

const storage = 'apiextensions.k8s.io/customresourcedefinitions';

interface CustomResourceDefinition extends KubeObject {
  spec: {
    group: string;
    scope: string;
    names: {
      plural: string;
      singular?: string;
      kind: string;
      listKind?: string;
      shortNames?: string[];
      categories?: string[];
    };
    versions: {
      name: string;
      served: boolean;
      storage: boolean;
      subresources?: { status?: object };
      schema?: { openAPIV3Schema?: Schema };
    }[];
  };
}

export function createCustomResources(parts: ServerParts): CustomResources {
  let stop = (): void => {};
  const serve = (crd: CustomResourceDefinition): void => {
    for (const definition of definitionsOf(crd)) parts.registry.register(definition);
  };
  return {
    start() {
      for (const crd of parts.store.list(storage)) serve(crd as CustomResourceDefinition);
      stop = parts.store.subscribe((event) => {
        if (event.resource !== storage) return;
        const crd = event.object as CustomResourceDefinition;
        if (event.type === 'DELETED')
          for (const { name } of crd.spec.versions)
            parts.registry.unregister(crd.spec.group, name, crd.spec.names.plural);
        else serve(crd);
      });
    },
    stop: () => stop(),
  };
}

const statusOnly: PartSubresource = {
  type: 'part',
  verbs: ['get', 'patch', 'update'],
  hooks: {
    prepareForUpdate(object, old) {
      for (const key of Object.keys(object))
        if (!['status', 'metadata', 'kind', 'apiVersion'].includes(key)) delete object[key];
      const { status: _status, ...rest } = old;
      Object.assign(object, rest, {
        metadata: { ...old.metadata, managedFields: object.metadata.managedFields },
      });
    },
  },
};

function definitionsOf(crd: CustomResourceDefinition): ResourceDefinition[] {
  const { group, names, scope, versions } = crd.spec;
  return versions
    .filter((version) => version.served)
    .map((version) => ({
      group,
      version: version.name,
      plural: names.plural,
      singular: names.singular ?? names.kind.toLowerCase(),
      kind: names.kind,
      listKind: names.listKind ?? `${names.kind}List`,
      shortNames: names.shortNames ?? [],
      categories: names.categories ?? [],
      namespaced: scope === 'Namespaced',
      verbs: allVerbs,
      subresources: (version.subresources?.status === undefined
        ? {}
        : { status: statusOnly }) as ResourceDefinition['subresources'],
      hooks: {},
      storage: `${group}/${names.plural}`,
      storageVersion: versions.find((one) => one.storage)?.name ?? version.name,
      custom: true,
      schema: customResourceSchema(version.schema?.openAPIV3Schema),
      countsGeneration: true,
      requireResourceVersion: true,
    }));
}
