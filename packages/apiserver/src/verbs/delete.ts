/** DELETE of one object. */
import { deleteOptions } from '../decode/delete-options.ts';
import type { Answer } from '../resource/answer.ts';
import type { RequestContext } from '../resource/request-context.ts';
import type { ResourceDefinition } from '../resource/resource-definition.ts';
import { deleteObject } from '../strategy/delete-object.ts';

export async function remove(context: RequestContext, definition: ResourceDefinition): Promise<Answer> {
  const options = await deleteOptions(context);
  const { name, namespace } = context.info;
  const { object, gone } = await deleteObject(context, definition, namespace, name, options);
  if (!gone || definition.deleteReturnsObject === true)
    return { type: 'object', status: 200, object, definition };
  return {
    type: 'object',
    status: 200,
    object: {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: {
        name,
        ...(definition.group === '' ? {} : { group: definition.group }),
        kind: definition.plural,
        uid: object.metadata.uid,
      },
    },
  };
}
