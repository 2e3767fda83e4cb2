/** Who owns which field: metadata.managedFields, and server-side apply on top of it. */

import type { KubeObject } from '../api/types.ts';
import type { ResourceDefinition } from '../resource/resource-definition.ts';

export interface FieldManagerRequest {
  readonly definition: ResourceDefinition;
  /** '' for the main resource. */
  readonly subresource: string;
  /** fieldManager of the request, or the first part of the User-Agent. */
  readonly manager: string;
  /** `group/version` the request was made in. */
  readonly apiVersion: string;
  /** metadata timestamp for a changed entry. */
  readonly time: string;
}

export interface FieldManager {
  /** After a create, replace or patch: `next` with managedFields that note what changed against `live`. */
  update(live: KubeObject | undefined, next: KubeObject, request: FieldManagerRequest): KubeObject;
  /** Server-side apply of a parsed configuration; throws the 409 of a conflict unless forced. */
  apply(
    live: KubeObject | undefined,
    configuration: KubeObject,
    request: FieldManagerRequest & { readonly force: boolean },
  ): KubeObject;
}
