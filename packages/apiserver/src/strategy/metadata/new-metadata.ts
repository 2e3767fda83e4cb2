/** What the server fills into the metadata of a new object. */
import { ApiError, badRequest, groupResourceText } from '../../api/errors.ts';
import { type KubeObject, timestamp } from '../../api/types.ts';
import type { RequestContext } from '../../resource/request-context.ts';
import { groupResource, type ResourceDefinition } from '../../resource/resource-definition.ts';

export function prepareNewMetadata(
  context: RequestContext,
  definition: ResourceDefinition,
  object: KubeObject,
): void {
  const { metadata } = object;
  const { environment } = context.parts;
  placeInNamespace(context, definition, object);
  if ((metadata.resourceVersion ?? '') !== '')
    throw new ApiError(500, '', 'resourceVersion should not be set on objects to be created');
  if ((metadata.name ?? '') === '' && (metadata.generateName ?? '') !== '')
    metadata.name = freeName(context, definition, metadata.generateName ?? '', metadata.namespace);
  delete metadata.resourceVersion;
  delete (metadata as { selfLink?: string }).selfLink;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  metadata.uid = environment.uuid();
  metadata.creationTimestamp = timestamp(environment.now());
  if (definition.countsGeneration === true) metadata.generation = 1;
}

/** The namespace of the URL wins; one in the body must agree with it. */
export function placeInNamespace(
  context: RequestContext,
  definition: ResourceDefinition,
  object: KubeObject,
): void {
  if (!definition.namespaced) {
    delete object.metadata.namespace;
    return;
  }
  const { namespace } = context.info;
  if (namespace === '')
    throw badRequest(
      `an empty namespace may not be set during creation of ${groupResourceText(groupResource(definition))}`,
    );
  if ((object.metadata.namespace ?? '') !== '' && object.metadata.namespace !== namespace)
    throw wrongNamespace();
  object.metadata.namespace = namespace;
}

/** The name and namespace of a body must be those of the URL. */
export function checkPlace(
  context: RequestContext,
  definition: ResourceDefinition,
  object: KubeObject,
): void {
  const { name } = context.info;
  const given = object.metadata.name ?? '';
  if (given === '')
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    );
  if (given !== name)
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
  placeInNamespace(context, definition, object);
}

function wrongNamespace(): ApiError {
  return badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

/** A generated name may be taken by chance; after some tries the create says so. */
const nameTries = 8;

function freeName(
  { parts }: RequestContext,
  { storage }: ResourceDefinition,
  prefix: string,
  namespace: string | undefined,
): string {
  let name = '';
  for (let tries = 0; tries < nameTries; tries += 1) {
    name = `${prefix.slice(0, 58)}${parts.environment.nameSuffix(5)}`;
    if (parts.store.get(storage, namespace, name) === undefined) break;
  }
  return name;
}

/** What a client cannot change in metadata by an update, and need not send. */
export function keepSystemMetadata(next: KubeObject, live: KubeObject): void {
  const to = next.metadata;
  const from = live.metadata;
  // A uid that is given must be the right one: validation looks at it.
  if ((to.uid ?? '') === '' && from.uid !== undefined) to.uid = from.uid;
  delete (to as { selfLink?: string }).selfLink;
  for (const key of [
    'resourceVersion',
    'creationTimestamp',
    'generation',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'generateName',
  ] as const) {
    if (from[key] === undefined) delete to[key];
    else Object.assign(to, { [key]: from[key] });
  }
}
