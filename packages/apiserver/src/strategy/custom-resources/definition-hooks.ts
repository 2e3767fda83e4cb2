/** What happens to a CustomResourceDefinition on its way in. */
import { notImplemented } from '../../api/errors.ts';
import { clone } from '../../api/json.ts';
import { type KubeObject, timestamp } from '../../api/types.ts';
import type { ResourceHooks } from '../../resource/resource-definition.ts';
import type { Schema } from '../../schema/schema.ts';
import { setCondition } from './conditions.ts';
import { type CustomResourceDefinition, cleanupFinalizer, conditionOf } from './definition.ts';
import { validateDefinition, validateDefinitionUpdate } from './validate-definition.ts';

export const definitionHooks: ResourceHooks = {
  default(object) {
    const { spec } = asDefinition(object);
    const { names } = spec;
    if (names.kind !== '') {
      names.singular = names.singular || names.kind.toLowerCase();
      names.listKind = names.listKind || `${names.kind}List`;
    }
    spec.conversion ??= { strategy: 'None' };
    for (const version of spec.versions)
      if (version.schema?.openAPIV3Schema) dropEmptyParts(version.schema.openAPIV3Schema);
  },
  prepareForCreate(object) {
    const crd = asDefinition(object);
    const storage = crd.spec.versions.find((version) => version.storage);
    crd.status = {
      conditions: null,
      acceptedNames: { plural: '', kind: '' },
      storedVersions: storage === undefined ? null : [storage.name],
    };
    crd.metadata.generation = 1;
  },
  prepareForUpdate(object, old) {
    const crd = asDefinition(object);
    crd.status = clone((old as CustomResourceDefinition).status);
    const storage = crd.spec.versions.find((version) => version.storage)?.name;
    const stored = crd.status.storedVersions ?? [];
    if (storage !== undefined && !stored.includes(storage)) crd.status.storedVersions = [...stored, storage];
  },
  validate(object, _context, old) {
    const crd = object as CustomResourceDefinition;
    const faults = validateDefinition(crd, old as CustomResourceDefinition | undefined);
    if (faults.length === 0) refuseConversion(crd);
    return faults;
  },
  validateUpdate: (object, old) =>
    validateDefinitionUpdate(object as CustomResourceDefinition, old as CustomResourceDefinition),
  prepareForDelete(object, context) {
    const crd = object as CustomResourceDefinition;
    if (conditionOf(crd, 'Terminating') !== undefined) return;
    const at = timestamp(context.parts.environment.now());
    // A definition has no grace period, and being deleted is no new generation of it.
    delete object.metadata.deletionGracePeriodSeconds;
    if (object.metadata.generation !== undefined) object.metadata.generation -= 1;
    object.metadata.finalizers = [...new Set([...(object.metadata.finalizers ?? []), cleanupFinalizer])];
    setCondition(crd, {
      type: 'Terminating',
      status: 'True',
      lastTransitionTime: at,
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    });
  },
};

/** What an API server would say to this definition, one text per fault; none means accepted. Needs no server. */
export function definitionFaults(definition: object): string[] {
  const crd = clone(definition) as CustomResourceDefinition;
  definitionHooks.default?.(crd, 'body');
  crd.status.storedVersions = crd.spec.versions.filter(({ storage }) => storage).map(({ name }) => name);
  return validateDefinition(crd).map(({ field, message }) => `${field}: ${message}`);
}

/** Objects are the same in all versions here; a webhook that makes them differ would be ignored in silence. */
function refuseConversion({ spec }: CustomResourceDefinition): void {
  if (spec.conversion?.strategy === 'Webhook')
    throw notImplemented('conversion webhooks of custom resources');
}

/** An empty map or list in a schema says nothing and is not kept, nor is a default of null. */
function dropEmptyParts(schema: Schema): void {
  if (schema.default === null) delete schema.default;
  for (const key of ['properties', 'required', 'enum', 'allOf', 'anyOf', 'oneOf'] as const) {
    const part = schema[key];
    if (part !== undefined && Object.keys(part).length === 0) delete schema[key];
  }
  for (const property of Object.values(schema.properties ?? {})) dropEmptyParts(property);
  if (schema.items) dropEmptyParts(schema.items);
  if (typeof schema.additionalProperties === 'object') dropEmptyParts(schema.additionalProperties);
}

/** Objects come as clients sent them: parts the kind always has may be missing. */
function asDefinition(object: KubeObject): CustomResourceDefinition {
  const crd = object as CustomResourceDefinition;
  crd.spec ??= { group: '', names: { plural: '', kind: '' }, scope: '', versions: [] };
  crd.spec.names ??= { plural: '', kind: '' };
  crd.spec.group ??= '';
  crd.spec.versions ??= [];
  crd.status ??= { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null };
  return crd;
}
