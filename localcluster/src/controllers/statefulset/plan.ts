/**
 * What a StatefulSet wants done next, as a pure function. The rules, in the order they are asked:
 * own the right pods, know the two revisions, fill the ordinals from below, remove what is above from the top, then roll.
 * OrderedReady takes one step and waits for it; Parallel takes every step it can.
 */

import { selectorMatches } from '@slurm-operator/kubernetes-values';
import type {
  ControllerRevision,
  Metadata,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
} from '../../objects/objects.ts';
import {
  controllerOf,
  controllerReference,
  isActive,
  isAvailable,
  isControlledBy,
  isFinished,
  isReady,
  isTerminating,
} from '../../objects/pods.ts';
import { buildClaims, buildPod, type NewClaim, type NewPod } from './build-pod.ts';
import { type Revisions, reviseStatefulSet } from './revisions.ts';

export interface Observed {
  readonly set: StatefulSet;
  /** Every pod of the namespace that the set controls or whose labels its selector matches. */
  readonly pods: readonly Pod[];
  /** The set's own revisions. */
  readonly revisions: readonly ControllerRevision[];
  /** Claims of the namespace, by name. */
  readonly claims: ReadonlyMap<string, PersistentVolumeClaim>;
}

export type Action =
  | { readonly do: 'adopt'; readonly pod: Pod }
  | { readonly do: 'release'; readonly pod: Pod }
  | { readonly do: 'createClaim'; readonly claim: NewClaim }
  | {
      readonly do: 'ownClaim';
      readonly claim: PersistentVolumeClaim;
      readonly owners: NonNullable<Metadata['ownerReferences']>;
    }
  | { readonly do: 'createPod'; readonly pod: NewPod }
  | { readonly do: 'deletePod'; readonly pod: Pod; readonly why: string }
  | { readonly do: 'createRevision'; readonly revision: Revisions['update'] }
  | { readonly do: 'renumberRevision'; readonly name: string; readonly revision: number }
  | { readonly do: 'deleteRevision'; readonly name: string };

export type Status = NonNullable<StatefulSet['status']>;

export interface Plan {
  readonly actions: readonly Action[];
  readonly status: Status;
  /** When minReadySeconds makes a pod available only later. */
  readonly checkAgainInSeconds?: number;
}

const revisionLabel = 'controller-revision-hash';

export function planStatefulSet(observed: Observed, now: number): Plan {
  const { set } = observed;
  const actions: Action[] = [];
  const owned: Pod[] = [];
  for (const pod of observed.pods) {
    const fits = selectorMatches(set.spec.selector, pod.metadata.labels) && ordinalOf(set, pod) !== undefined;
    if (isControlledBy(pod, set)) {
      if (fits) owned.push(pod);
      else if (!isTerminating(pod)) actions.push({ do: 'release', pod });
    } else if (controllerOf(pod) === undefined && fits && isActive(pod) && !isTerminating(set)) {
      actions.push({ do: 'adopt', pod });
      owned.push(pod);
    }
  }

  const revisions = reviseStatefulSet(set, observed.revisions, owned);
  actions.push(...revisions.actions);
  if (!isTerminating(set)) actions.push(...planPods(observed, owned, revisions, now));

  const minReady = set.spec.minReadySeconds ?? 0;
  const waiting = owned.some((pod) => isReady(pod) && !isAvailable(pod, minReady, now));
  return {
    actions,
    status: statusOf(set, owned, revisions, now),
    ...(waiting ? { checkAgainInSeconds: minReady } : {}),
  };
}

/** The ordinal in a pod's name, if the name is one this set could have given. */
export function ordinalOf(set: StatefulSet, pod: Pod): number | undefined {
  const prefix = `${set.metadata.name}-`;
  if (!pod.metadata.name.startsWith(prefix)) return undefined;
  const rest = pod.metadata.name.slice(prefix.length);
  return /^(0|[1-9][0-9]*)$/.test(rest) ? Number(rest) : undefined;
}

function planPods(observed: Observed, owned: readonly Pod[], revisions: Revisions, now: number): Action[] {
  const { set } = observed;
  const parallel = set.spec.podManagementPolicy === 'Parallel';
  const start = set.spec.ordinals?.start ?? 0;
  const end = start + (set.spec.replicas ?? 1);
  const minReady = set.spec.minReadySeconds ?? 0;
  const byOrdinal = new Map(owned.map((pod) => [ordinalOf(set, pod) ?? -1, pod]));
  const actions: Action[] = [];
  const healthy = (pod: Pod) => isAvailable(pod, minReady, now) && !isTerminating(pod);

  for (let ordinal = start; ordinal < end; ordinal++) {
    const pod = byOrdinal.get(ordinal);
    const claims = buildClaims(set, ordinal);
    for (const claim of claims) {
      const live = observed.claims.get(claim.metadata.name);
      if (live === undefined) {
        if (pod === undefined) actions.push({ do: 'createClaim', claim });
      } else actions.push(...ownership(set, live, claim, undefined));
    }
    if (pod === undefined) {
      const revision = ordinal < start + partitionOf(set) ? revisions.current : revisions.update;
      actions.push({ do: 'createPod', pod: buildPod(set, ordinal, revision) });
      if (!parallel) return actions;
    } else if (isFinished(pod) && !isTerminating(pod)) {
      actions.push({ do: 'deletePod', pod, why: `it has ${pod.status?.phase ?? 'ended'}` });
      if (!parallel) return actions;
    } else if (!parallel && !healthy(pod)) return actions;
  }

  const toRemove = [...byOrdinal]
    .filter(([ordinal]) => ordinal < start || ordinal >= end)
    .toSorted(([a], [b]) => b - a);
  for (const [ordinal, pod] of toRemove) {
    for (const claim of buildClaims(set, ordinal)) {
      const live = observed.claims.get(claim.metadata.name);
      if (live !== undefined) actions.push(...ownership(set, live, claim, pod));
    }
    if (!isTerminating(pod)) actions.push({ do: 'deletePod', pod, why: 'the set was scaled down' });
    if (!parallel) return actions;
  }
  if (toRemove.length > 0) return actions;
  if (actions.some((action) => action.do === 'createPod')) return actions;

  if (set.spec.updateStrategy?.type === 'OnDelete') return actions;
  for (let ordinal = end - 1; ordinal >= start + partitionOf(set); ordinal--) {
    const pod = byOrdinal.get(ordinal);
    if (pod === undefined) continue;
    if (pod.metadata.labels?.[revisionLabel] !== revisions.update.metadata.name && !isTerminating(pod)) {
      actions.push({ do: 'deletePod', pod, why: 'its template changed' });
      return actions;
    }
    if (!healthy(pod)) return actions;
  }
  return actions;
}

const partitionOf = (set: StatefulSet): number =>
  set.spec.updateStrategy?.type === 'OnDelete' ? 0 : (set.spec.updateStrategy?.rollingUpdate?.partition ?? 0);

/**
 * Who owns a claim says when it goes: with the set (whenDeleted), or with the pod that is removed (whenScaled). Owners
 * that a user set are not changed; only our two are added and removed.
 */
function ownership(
  set: StatefulSet,
  live: PersistentVolumeClaim,
  wanted: NewClaim,
  podToRemove: Pod | undefined,
): Action[] {
  const policy = set.spec.persistentVolumeClaimRetentionPolicy;
  const others = (live.metadata.ownerReferences ?? []).filter(
    (owner) => owner.uid !== set.metadata.uid && owner.kind !== 'Pod',
  );
  const byPod =
    podToRemove !== undefined && policy?.whenScaled === 'Delete'
      ? [
          {
            apiVersion: 'v1',
            kind: 'Pod',
            name: podToRemove.metadata.name,
            uid: podToRemove.metadata.uid,
            blockOwnerDeletion: true,
          },
        ]
      : [];
  const bySet = byPod.length > 0 ? [] : (wanted.metadata.ownerReferences ?? []);
  const owners = [...others, ...bySet, ...byPod];
  const same =
    owners.length === (live.metadata.ownerReferences?.length ?? 0) &&
    owners.every((owner) => live.metadata.ownerReferences?.some((entry) => entry.uid === owner.uid));
  return same || isTerminating(live) ? [] : [{ do: 'ownClaim', claim: live, owners }];
}

function statusOf(set: StatefulSet, owned: readonly Pod[], revisions: Revisions, now: number): Status {
  const minReady = set.spec.minReadySeconds ?? 0;
  const count = (match: (pod: Pod) => boolean) => owned.filter(match).length;
  const onRevision = (name: string) =>
    count((pod) => !isTerminating(pod) && pod.metadata.labels?.[revisionLabel] === name);
  const ready = count((pod) => pod.status?.phase === 'Running' && isReady(pod));
  const updated = onRevision(revisions.update.metadata.name);
  const rolled =
    set.spec.updateStrategy?.type !== 'OnDelete' && updated === owned.length && ready === owned.length;
  const current = rolled ? revisions.update.metadata.name : revisions.current.metadata.name;
  return {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: owned.length,
    ...some('readyReplicas', ready),
    ...some('currentReplicas', onRevision(current)),
    ...some('updatedReplicas', updated),
    currentRevision: current,
    updateRevision: revisions.update.metadata.name,
    collisionCount: set.status?.collisionCount ?? 0,
    availableReplicas: count((pod) => pod.status?.phase === 'Running' && isAvailable(pod, minReady, now)),
  };
}

/** Counters of zero are left out of a status, as the API's own encoding does. */
function some<K extends string>(key: K, value: number): Partial<Record<K, number>> {
  return value === 0 ? {} : ({ [key]: value } as Record<K, number>);
}

export const setReference = (set: StatefulSet) => controllerReference(set, 'apps/v1', 'StatefulSet');
