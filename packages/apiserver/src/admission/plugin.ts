/** A built-in rule of admission: it changes a request, or refuses it. */

import type { KubeObject } from '../api/types.ts';
import type { RequestContext } from '../resource/request-context.ts';
import type { AdmissionAttributes } from './admission-attributes.ts';

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
