/**
 * Fields that a write never changes, and so never owns: the main resource does not change status where status
 * is a subresource; the status subresource does not change the rest.
 */
import { FieldSet } from './field-set.ts';

const nothing = new FieldSet();
const status = FieldSet.of(['f:status']);
const spec = FieldSet.of(['f:spec']);
const allButStatus = FieldSet.of(['f:metadata'], ['f:spec']);
const ofPodStatus = FieldSet.of(
  ['f:spec'],
  ['f:metadata', 'f:deletionTimestamp'],
  ['f:metadata', 'f:ownerReferences'],
);
const ofDeploymentStatus = FieldSet.of(['f:spec'], ['f:metadata', 'f:labels']);

export interface WrittenResource {
  readonly kind: string;
  readonly custom: boolean;
  readonly hasStatus: boolean;
  /** '' for the main resource. */
  readonly subresource: string;
}

export function resetFields({ kind, custom, hasStatus, subresource }: WrittenResource): FieldSet {
  if (subresource === '') return hasStatus ? status : nothing;
  if (subresource !== 'status') return nothing;
  if (custom || kind === 'CustomResourceDefinition') return allButStatus;
  if (kind === 'Pod') return ofPodStatus;
  return kind === 'Deployment' ? ofDeploymentStatus : spec;
}
