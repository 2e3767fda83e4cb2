/** Law L5: a claim goes only because its slot was really scaled in, and the policy for that says Delete. */
import type { WorkerAction } from '../model/actions.ts';
import { type Observed, slotKey } from '../model/observed.ts';
import type { SlotPlan } from './slots.ts';

export function claimActions(observed: Observed, slots: SlotPlan): WorkerAction[] {
  if (observed.deleting) return []; // what then happens to claims is the garbage collector's work, by their owner
  const wanted = new Set([...slots.kept.map((worker) => slotKey(worker.slot)), ...slots.vacant.map(slotKey)]);
  const inUse = new Set(observed.workers.map((worker) => slotKey(worker.slot)));
  const surplus = new Set(slots.surplus.map((worker) => slotKey(worker.slot)));
  const deleteScaled = observed.retention.whenScaled === 'Delete';
  const actions: WorkerAction[] = [];
  for (const claim of observed.claims) {
    if (claim.terminating) continue;
    const { name, uid } = claim;
    const slot = slotKey(claim.slot);
    const owned = observed.retention.whenDeleted === 'Delete';
    if (claim.ownedByNodeSet !== owned) actions.push({ kind: 'own-claim', name, uid, owned });
    if (claim.scaledIn && (wanted.has(slot) || !deleteScaled))
      actions.push({ kind: 'mark-claim', name, uid, scaledIn: false });
    else if (!claim.scaledIn && deleteScaled && surplus.has(slot))
      actions.push({ kind: 'mark-claim', name, uid, scaledIn: true });
    else if (claim.scaledIn && !inUse.has(slot)) actions.push({ kind: 'delete-claim', name, uid });
  }
  return actions;
}

/**
 * Slots with a claim that is yet to be marked. The mark must be on the claims before the pod goes: after a crash it is all that tells
 * a scale-in from a rollout.
 */
export function unmarkedSlots(observed: Observed): ReadonlySet<string> {
  if (observed.retention.whenScaled !== 'Delete') return new Set();
  return new Set(
    observed.claims
      .filter((claim) => !claim.terminating && !claim.scaledIn)
      .map((claim) => slotKey(claim.slot)),
  );
}
