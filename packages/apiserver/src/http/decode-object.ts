/** A request body as an object of the resource that the URL names. */
import { badRequest } from '../errors.ts';
import { isObject } from '../json.ts';
import type { RequestContext } from '../ports/request-context.ts';
import { groupVersion, type ResourceDefinition } from '../registry/resource-definition.ts';
import type { KubeObject } from '../types.ts';
import type { WriteOptions } from '../verbs/write-options.ts';
import { decodeBody } from './decode.ts';

export async function decodeObject(
  context: RequestContext,
  definition: ResourceDefinition,
  _options: WriteOptions,
): Promise<KubeObject> {
  const body = await decodeBody(context);
  if (body === undefined) throw badRequest('the request has no body');
  return checkKind(definition, body as unknown as KubeObject);
}

/** Kind and apiVersion as the URL says them. */
export function checkKind(definition: ResourceDefinition, object: KubeObject): KubeObject {
  const apiVersion = groupVersion(definition);
  object.kind ??= definition.kind;
  object.apiVersion ??= apiVersion;
  if (object.kind !== definition.kind)
    throw badRequest(
      `${object.kind} in version "${definition.version}" cannot be handled as a ${definition.kind}`,
    );
  if (object.apiVersion !== apiVersion)
    throw badRequest(
      `the API version in the data (${object.apiVersion}) does not match the expected API version (${apiVersion})`,
    );
  object.metadata ??= {};
  if (!isObject(object.metadata)) throw badRequest('metadata is not an object');
  return object;
}
