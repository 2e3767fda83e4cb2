/** A change as admission sees it. */

import type { JsonObject, KubeObject } from '../api/types.ts';
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
