/** Names, labels, annotations, finalizers and owners. */
import type { FieldFault } from '../errors.ts';
import type { ResourceDefinition } from '../registry/resource-definition.ts';
import type { KubeObject } from '../types.ts';

export function validateMetadata(_definition: ResourceDefinition, object: KubeObject): FieldFault[] {
  if ((object.metadata.name ?? '') === '')
    return [
      {
        reason: 'FieldValueRequired',
        field: 'metadata.name',
        message: 'Required value: name or generateName is required',
      },
    ];
  return [];
}
