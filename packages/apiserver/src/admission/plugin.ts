/** A built-in rule of admission: it changes a request, or refuses it. */
import type { JsonObject, KubeObject } from '../api/types.ts';
import type { RequestContext } from '../resource/request-context.ts';
import type { ResourceDefinition } from '../resource/resource-definition.ts';

/** A change as admission sees it. */
export interface AdmissionAttributes {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly definition: ResourceDefinition;
  readonly subresource: string;
  /** The kind of `object` where a subresource has its own (Scale, Eviction, Binding). */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly namespace: string;
  readonly name: string;
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions as sent, with kind and apiVersion. */
  readonly options: JsonObject;
  readonly dryRun: boolean;
}

export interface AdmissionPlugin {
  readonly name: string;
  /** Changes the object in place, before webhooks see it. */
  mutate?(attributes: AdmissionAttributes, context: RequestContext): void;
  /** Refuses by throwing an ApiError, after everything else has agreed. */
  validate?(attributes: AdmissionAttributes, context: RequestContext): void;
}

/** The object of a create of this built-in resource (not of a subresource); `undefined` for any other request. */
export function createdObject(
  { operation, definition, subresource, object }: AdmissionAttributes,
  group: string,
  plural: string,
): KubeObject | undefined {
  const fits =
    operation === 'CREATE' &&
    subresource === '' &&
    definition.group === group &&
    definition.plural === plural;
  return fits ? object : undefined;
}
