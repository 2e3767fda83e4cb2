/** What happens to every custom resource on its way in: pruning, defaults, the schema and its rules. */

import { type FieldFault, forbidden } from '../../api/errors.ts';
import { clone } from '../../api/json.ts';
import { asJson } from '../../api/typed.ts';
import type { KubeObject } from '../../api/types.ts';
import type { RequestContext } from '../../resource/request-context.ts';
import type { PartSubresource, ResourceHooks } from '../../resource/resource-definition.ts';
import type { Json, Schema } from '../../schema/schema.ts';
import { defaultValue, pruneValue } from './default-value.ts';
import { invalidValue } from './faults.ts';
import { hasRules, runRules } from './run-rules.ts';
import { validateLists } from './validate-lists.ts';
import { validateValue } from './validate-value.ts';

export interface CustomKind {
  readonly group: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** The schema the definition brings, without the parts every object has. */
  readonly schema: Schema;
  /** The whole object's schema. */
  readonly whole: Schema;
  readonly hasStatus: boolean;
  isTerminating(): boolean;
}

/** Drops what is unknown and fills in defaults, in place. */
export function shapeObject(
  { schema, whole, namespaced }: CustomKind,
  object: KubeObject,
  source?: 'body' | 'apply',
): void {
  pruneValue(asJson(object), whole);
  defaultValue(asJson(object), schema, source === 'apply');
  if (!namespaced) delete object.metadata.namespace;
}

export function customHooks(kind: CustomKind): ResourceHooks {
  return {
    default: (object, source) => shapeObject(kind, object, source),
    prepareForCreate(object) {
      if (kind.isTerminating())
        throw forbidden(
          { group: kind.group, resource: kind.plural },
          object.metadata.name ?? '',
          'create not allowed while custom resource definition is terminating',
        );
      if (kind.hasStatus) delete object['status'];
      object.metadata.generation = 1;
    },
    prepareForUpdate(object, old) {
      if (!kind.hasStatus) return;
      if (old['status'] === undefined) delete object['status'];
      else object['status'] = clone(old['status']);
    },
    validate: (object, context, old) => validateObject(kind.schema, object, old, context),
  };
}

/** Where rules cannot be run on a value that is not even of the right type. */
const blocking = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

function validateObject(
  schema: Schema,
  object: KubeObject,
  old: KubeObject | undefined,
  context: RequestContext,
): FieldFault[] {
  const value = asJson(object);
  const before = asJson(old);
  const faults = [...validateValue(value, schema, before), ...validateLists(value, schema, before)];
  if (!hasRules(schema)) return faults;
  if (faults.some(({ reason }) => blocking.has(reason)))
    return [
      ...faults,
      invalidValue(
        '<nil>',
        null,
        'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
      ),
    ];
  const found = runRules(value, schema, before);
  context.warnings.push(...found.warnings);
  return [...faults, ...found.faults];
}

/** The status subresource: writes only status. */
export function statusPart(kind: CustomKind): PartSubresource {
  return {
    type: 'part',
    verbs: ['get', 'patch', 'update'],
    hooks: {
      default: (object, source) => shapeObject(kind, object, source),
      prepareForUpdate(object, old) {
        const { managedFields } = object.metadata;
        for (const key of Object.keys(object)) if (key !== 'status') delete object[key];
        const { status: _, ...rest } = old;
        Object.assign(object, clone(rest));
        if (managedFields === undefined) delete object.metadata.managedFields;
        else object.metadata.managedFields = managedFields;
      },
      validate(object, context, old) {
        const { schema } = kind;
        const status = schema.properties?.['status'];
        const value = object['status'] as Json | undefined;
        if (status === undefined || value === undefined) return [];
        const before = old?.['status'] as Json | undefined;
        const faults = validateValue(value, status, before, 'status');
        if (faults.some(({ reason }) => blocking.has(reason)) || !hasRules(schema)) return faults;
        const found = runRules(asJson(object), schema, asJson(old));
        context.warnings.push(...found.warnings);
        return [...faults, ...found.faults];
      },
    },
  };
}
