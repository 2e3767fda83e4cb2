/** PATCH with an applied configuration: server-side apply. */

import { badRequest, invalid, notFound } from '../api/errors.ts';
import { clone, isObject } from '../api/json.ts';
import { isTrue } from '../api/request-info.ts';
import { untyped } from '../api/typed.ts';
import { type KubeObject, timestamp } from '../api/types.ts';
import type { FieldManagerRequest } from '../apply/field-manager.ts';
import { applyConfiguration } from '../apply/field-manager.ts';
import { MalformedBody, parseYaml } from '../decode/decode.ts';
import { type WriteOptions, writeOptions } from '../decode/write-options.ts';
import type { Answer } from '../resource/answer.ts';
import type { RequestContext } from '../resource/request-context.ts';
import {
  groupResource,
  groupVersion,
  type ResourceDefinition,
  type ResourceHooks,
} from '../resource/resource-definition.ts';
import { checkPlace } from '../strategy/metadata/new-metadata.ts';
import { checkRevision } from './check-revision.ts';
import { createObject } from './create.ts';
import { updateObject } from './update.ts';

export async function apply(
  context: RequestContext,
  definition: ResourceDefinition,
  hooks: ResourceHooks,
): Promise<Answer> {
  const { subresource, name, namespace } = context.info;
  const { store, environment } = context.parts;
  const options = writeOptions(context, 'PatchOptions');
  requireManager(options);
  const configuration = configurationOf(definition, (await context.body()).toString('utf8'));
  const request: FieldManagerRequest & { readonly force: boolean } = {
    definition,
    subresource,
    manager: options.manager,
    apiVersion: groupVersion(definition),
    time: timestamp(environment.now()),
    force: isTrue(context.query.get('force')),
  };
  const applied = (live: KubeObject | undefined): KubeObject => {
    const placed = clone(configuration);
    checkPlace(context, definition, placed);
    // Faults name the object as it was sent, so it is put in its place afterwards.
    const next = applyConfiguration(live, clone(configuration), request);
    Object.assign(next.metadata, { name: placed.metadata.name, namespace: placed.metadata.namespace });
    if (next.metadata.namespace === undefined) delete next.metadata.namespace;
    hooks.default?.(next, 'apply');
    return next;
  };
  const stored = store.get(definition.storage, definition.namespaced ? namespace : undefined, name);
  if (stored === undefined) {
    if (subresource !== '') throw notFound(groupResource(definition), name);
    const fresh = applied(undefined);
    delete fresh.metadata.resourceVersion;
    const created = await createObject(context, definition, fresh, options, (object) => object);
    return { type: 'object', status: 201, object: created, definition };
  }
  const object = await updateObject(context, definition, {
    subresource,
    hooks,
    options,
    unconditional: true,
    next: (live) => {
      checkRevision(definition, configuration, live);
      return applied(live);
    },
  });
  return { type: 'object', status: 200, object, definition };
}

export function requireManager({ explicitManager }: WriteOptions): void {
  if (explicitManager) return;
  throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [
    {
      reason: 'FieldValueRequired',
      field: 'fieldManager',
      message: 'Required value: is required for apply patch',
    },
  ]);
}

function configurationOf(definition: ResourceDefinition, text: string): KubeObject {
  let value: unknown;
  try {
    ({ value } = parseYaml(text));
  } catch (error) {
    if (error instanceof MalformedBody) throw badRequest(`error decoding YAML: ${error.message}`);
    throw error;
  }
  if (!isObject(value)) throw badRequest('error decoding YAML: the applied configuration is not an object');
  const configuration = untyped(value);
  const { kind = '', apiVersion = '' } = configuration;
  if (kind !== definition.kind || apiVersion !== groupVersion(definition))
    throw badRequest(
      `invalid object type: ${apiVersion.includes('/') ? '' : '/'}${apiVersion}, Kind=${kind}`,
    );
  configuration.metadata ??= {};
  return configuration;
}
