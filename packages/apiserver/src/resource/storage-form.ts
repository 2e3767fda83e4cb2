/** Between the form an object is stored in and the form a version serves. */
import type { KubeObject } from '../api/types.ts';
import { groupVersion, type ResourceDefinition } from './resource-definition.ts';

export function fromStorage(definition: ResourceDefinition, stored: KubeObject): KubeObject {
  if (definition.fromStorage !== undefined) return definition.fromStorage(stored);
  const apiVersion = groupVersion(definition);
  return stored.apiVersion === apiVersion && stored.kind === definition.kind
    ? stored
    : { ...stored, apiVersion, kind: definition.kind };
}

export function toStorage(definition: ResourceDefinition, object: KubeObject): KubeObject {
  if (definition.toStorage !== undefined) return definition.toStorage(object);
  const apiVersion = groupVersion({
    group: definition.group,
    version: definition.storageVersion ?? definition.version,
  });
  return object.apiVersion === apiVersion && object.kind === definition.kind
    ? object
    : { ...object, apiVersion, kind: definition.kind };
}
