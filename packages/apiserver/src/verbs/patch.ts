/** PATCH: merge, JSON, strategic merge, and server-side apply. */

import { badRequest, type FieldFault, invalid } from '../api/errors.ts';
import { timestamp } from '../api/types.ts';
import { updateManagedFields } from '../apply/field-manager.ts';
import { mediaType } from '../decode/decode.ts';
import { checkCustomKind } from '../decode/decode-object.ts';
import { writeOptions } from '../decode/write-options.ts';
import type { Answer } from '../resource/answer.ts';
import type { RequestContext } from '../resource/request-context.ts';
import {
  groupVersion,
  type ResourceDefinition,
  type ResourceHooks,
  schemaOf,
} from '../resource/resource-definition.ts';
import { checkPlace } from '../strategy/metadata/new-metadata.ts';
import { apply } from './apply.ts';
import { checkRevision } from './check-revision.ts';
import { patcher } from './patched-object.ts';
import { updateObject } from './update.ts';

export async function patch(
  context: RequestContext,
  definition: ResourceDefinition,
  hooks: ResourceHooks = definition.hooks,
): Promise<Answer> {
  const { subresource } = context.info;
  const { registry, environment } = context.parts;
  const type = mediaType(context.headers['content-type']);
  if (type === 'application/apply-patch+yaml') return apply(context, definition, hooks);
  if (type === 'application/apply-patch+cbor') throw badRequest('error decoding patch: CBOR is not enabled');
  const options = writeOptions(context, 'PatchOptions');
  if (context.query.has('force'))
    throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [forceForbidden]);
  const text = (await context.body()).toString('utf8');
  const target = { definition, schema: schemaOf(definition), custom: definition.custom };
  const change = patcher(context, target, type, text, options);
  const object = await updateObject(context, definition, {
    subresource,
    hooks,
    options,
    unconditional: true,
    next: (live) => {
      const next = checkCustomKind(definition, change(live));
      checkPlace(context, definition, next);
      checkRevision(definition, next, live);
      hooks.default?.(next);
      return updateManagedFields(registry, live, next, {
        definition,
        subresource,
        manager: options.manager,
        apiVersion: groupVersion(definition),
        time: timestamp(environment.now()),
      });
    },
  });
  return { type: 'object', status: 200, object, definition };
}

const forceForbidden: FieldFault = {
  reason: 'FieldValueForbidden',
  field: 'force',
  message: 'Forbidden: may not be specified for non-apply patch',
};
