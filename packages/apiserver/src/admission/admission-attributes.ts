/** What stands between a decoded request and the store: built-in plugins, webhooks, policies, quota. */

import type { JsonObject, KubeObject } from '../api/types.ts';
import type { RequestContext } from '../resource/request-context.ts';
import type { ResourceDefinition } from '../resource/resource-definition.ts';

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

export interface AdmissionChain {
  /** Runs before the strategy hooks; answers the object to go on with (it may be changed in place). */
  mutate(attributes: AdmissionAttributes, context: RequestContext): Promise<KubeObject | undefined>;
  /** Runs after validation of the object and just before the write; throws an ApiError to refuse. */
  validate(attributes: AdmissionAttributes, context: RequestContext): Promise<void>;
}
