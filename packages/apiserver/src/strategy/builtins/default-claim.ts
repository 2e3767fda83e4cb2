/** The defaults of a volume claim, and of the claim templates inside other objects. */
import type { IPersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';

export function defaultClaim(claim: Pick<IPersistentVolumeClaim, 'spec' | 'status'>): void {
  if (claim.spec) claim.spec.volumeMode ??= 'Filesystem';
  claim.status ??= {};
  claim.status.phase ??= 'Pending';
}
