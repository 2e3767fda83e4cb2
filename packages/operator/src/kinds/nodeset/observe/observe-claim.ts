import type { DeepReadonly, PersistentVolumeClaim } from '@slurm-operator/kube';
import { claimScaledInAnnotation, claimSlotAnnotation } from '../annotations.ts';
import type { Claim, Slot } from '../model/observed.ts';

/** A claim of this NodeSet, as the plan sees it; undefined for one that names no slot (of another owner). */
export function observeClaim(
  claim: DeepReadonly<PersistentVolumeClaim>,
  nodeSet: { readonly name: string; readonly uid: string },
): Claim | undefined {
  const notes = claim.metadata?.annotations ?? {};
  const slot = slotOf(notes[claimSlotAnnotation]) ?? slotFromName(claim.metadata?.name ?? '', nodeSet.name);
  if (slot === undefined) return undefined;
  return {
    name: claim.metadata?.name ?? '',
    uid: claim.metadata?.uid ?? '',
    slot,
    ownedByNodeSet: (claim.metadata?.ownerReferences ?? []).some((owner) => owner.uid === nodeSet.uid),
    scaledIn: notes[claimScaledInAnnotation] === 'true',
    terminating: claim.metadata?.deletionTimestamp !== undefined,
  };
}

function slotOf(text: string | undefined): Slot | undefined {
  const match = /^(ordinal|node)\/(.+)$/.exec(text ?? '');
  if (match === null) return undefined;
  const [, kind, rest = ''] = match;
  if (kind === 'node') return { mode: 'DaemonSet', nodeName: rest };
  return /^\d{1,10}$/.test(rest) ? { mode: 'StatefulSet', ordinal: Number(rest) } : undefined;
}

/** Claims made by upstream's operator carry no slot; their name ends in the ordinal. */
function slotFromName(name: string, nodeSet: string): Slot | undefined {
  const at = name.indexOf(`-${nodeSet}-`);
  const end = at < 0 ? '' : name.slice(at + nodeSet.length + 2);
  return /^\d{1,10}$/.test(end) ? { mode: 'StatefulSet', ordinal: Number(end) } : undefined;
}
