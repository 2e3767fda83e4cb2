/**
 * What a Deployment wants done next: one ReplicaSet per template, the newest grown and the others shrunk within
 * maxSurge and maxUnavailable, old empty ones kept up to the history limit.
 */
import { resolveCount, selectorMatches } from '@slurm-operator/kubernetes-values';
import type { Deployment, ReplicaSet } from '../../objects/objects.ts';
import { controllerOf, controllerReference, isControlledBy, isTerminating } from '../../objects/pods.ts';
import { canonicalJson, templateHash } from '../../objects/template-hash.ts';
import { type Status, statusOf } from './status.ts';

export interface Observed {
  readonly deployment: Deployment;
  /** Every ReplicaSet of the namespace that the Deployment controls or whose labels its selector matches. */
  readonly sets: readonly ReplicaSet[];
}

export type Action =
  | { readonly do: 'adopt'; readonly set: ReplicaSet }
  | { readonly do: 'createSet'; readonly name: string; readonly set: object }
  | {
      readonly do: 'updateSet';
      readonly set: ReplicaSet;
      readonly replicas: number;
      readonly annotations: Readonly<Record<string, string>>;
    }
  | { readonly do: 'deleteSet'; readonly set: ReplicaSet };

export interface Plan {
  readonly actions: readonly Action[];
  readonly status: Status;
  /** Written together with the status. */
  readonly annotations: Readonly<Record<string, string>>;
}

const hashLabel = 'pod-template-hash';
const revisionOf = (set: ReplicaSet) => Number(set.metadata.annotations?.[annotation.revision] ?? '0');
const annotation = {
  revision: 'deployment.kubernetes.io/revision',
  desired: 'deployment.kubernetes.io/desired-replicas',
  max: 'deployment.kubernetes.io/max-replicas',
} as const;

export function planDeployment({ deployment, sets }: Observed, now: number): Plan {
  const actions: Action[] = [];
  const owned: ReplicaSet[] = [];
  for (const set of sets) {
    if (isControlledBy(set, deployment)) owned.push(set);
    else if (
      controllerOf(set) === undefined &&
      selectorMatches(deployment.spec.selector, set.metadata.labels) &&
      !isTerminating(set)
    ) {
      actions.push({ do: 'adopt', set });
      owned.push(set);
    }
  }
  if (isTerminating(deployment))
    return { actions, status: statusOf({ deployment, owned, now }), annotations: {} };

  const newest = owned
    .filter((set) => sameTemplate(deployment, set))
    .toSorted((a, b) => a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp))[0];
  const old = owned.filter((set) => set !== newest);
  const highest = Math.max(0, ...old.map(revisionOf));
  const revision = newest === undefined || revisionOf(newest) <= highest ? highest + 1 : revisionOf(newest);
  const budget = budgetOf(deployment);
  const annotations = {
    [annotation.desired]: String(budget.wanted),
    [annotation.max]: String(budget.wanted + budget.maxSurge),
    [annotation.revision]: String(revision),
  };

  const paused = deployment.spec.paused === true;
  const grown = newSetSize(deployment, newest, old, budget);
  let created: string | undefined;
  if (newest === undefined) {
    if (!paused) {
      const set = buildSet(deployment, annotations, grown);
      created = set.metadata.name;
      actions.push({ do: 'createSet', name: created, set });
    }
  } else {
    const replicas = paused ? (newest.spec.replicas ?? 1) : grown;
    if (replicas !== newest.spec.replicas || !carries(newest, annotations))
      actions.push({ do: 'updateSet', set: newest, replicas, annotations });
  }
  if (!paused && newest !== undefined) actions.push(...shrinkOld(deployment, newest, old, budget));
  actions.push(...prune(deployment, old));
  return {
    actions,
    status: statusOf({ deployment, owned, newest, created, now }),
    annotations: { [annotation.revision]: String(revision) },
  };
}

interface Budget {
  readonly wanted: number;
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

export function budgetOf(deployment: Deployment): Budget {
  const wanted = deployment.spec.replicas ?? 1;
  if (deployment.spec.strategy?.type === 'Recreate') return { wanted, maxSurge: 0, maxUnavailable: wanted };
  const rolling = deployment.spec.strategy?.rollingUpdate;
  const maxSurge = resolveCount(rolling?.maxSurge ?? '25%', wanted, Math.ceil);
  const maxUnavailable = Math.min(wanted, resolveCount(rolling?.maxUnavailable ?? '25%', wanted, Math.floor));
  return { wanted, maxSurge, maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable };
}

const sizeOf = (set: ReplicaSet) => set.spec.replicas ?? 1;
const sum = (sets: readonly ReplicaSet[], of: (set: ReplicaSet) => number) =>
  sets.reduce((total, set) => total + of(set), 0);

function newSetSize(
  deployment: Deployment,
  newest: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
  budget: Budget,
): number {
  const oldSize = sum(old, sizeOf);
  const size = newest === undefined ? 0 : sizeOf(newest);
  if (oldSize === 0 && sum(old, (set) => set.status?.replicas ?? 0) === 0) return budget.wanted;
  if (deployment.spec.strategy?.type === 'Recreate') return size;
  if (size >= budget.wanted) return budget.wanted;
  const room = budget.wanted + budget.maxSurge - (oldSize + size);
  return Math.max(size, Math.min(budget.wanted, size + Math.max(0, room)));
}

function shrinkOld(
  deployment: Deployment,
  newest: ReplicaSet,
  old: readonly ReplicaSet[],
  budget: Budget,
): Action[] {
  const standing = old.filter((set) => sizeOf(set) > 0);
  const shrink = (set: ReplicaSet, replicas: number): Action => ({
    do: 'updateSet',
    set,
    replicas,
    annotations: {
      [annotation.desired]: String(budget.wanted),
      [annotation.max]: String(budget.wanted + budget.maxSurge),
    },
  });
  if (deployment.spec.strategy?.type === 'Recreate') return standing.map((set) => shrink(set, 0));

  const total = sum(old, sizeOf) + sizeOf(newest);
  const newUnavailable = sizeOf(newest) - (newest.status?.availableReplicas ?? 0);
  let room = total - (budget.wanted - budget.maxUnavailable) - newUnavailable;
  const sizes = new Map(standing.map((set) => [set, sizeOf(set)]));
  // Pods of old sets that are not available are removed first: that does not reduce availability.
  for (const set of standing) {
    if (room <= 0) break;
    const broken = Math.min(sizeOf(set) - (set.status?.availableReplicas ?? 0), room);
    if (broken <= 0) continue;
    sizes.set(set, sizeOf(set) - broken);
    room -= broken;
  }
  const available = sum([...old, newest], (set) => set.status?.availableReplicas ?? 0);
  let spare = available - (budget.wanted - budget.maxUnavailable);
  for (const set of standing.toSorted((a, b) => revisionOf(a) - revisionOf(b))) {
    if (spare <= 0) break;
    const size = sizes.get(set) ?? 0;
    const cut = Math.min(size, spare);
    sizes.set(set, size - cut);
    spare -= cut;
  }
  return standing
    .filter((set) => sizes.get(set) !== sizeOf(set))
    .map((set) => shrink(set, sizes.get(set) ?? 0));
}

function prune(deployment: Deployment, old: readonly ReplicaSet[]): Action[] {
  const empty = old
    .filter((set) => sizeOf(set) === 0 && (set.status?.replicas ?? 0) === 0 && !isTerminating(set))
    .toSorted((a, b) => revisionOf(a) - revisionOf(b));
  const excess = empty.length - (deployment.spec.revisionHistoryLimit ?? 10);
  return empty.slice(0, Math.max(0, excess)).map((set) => ({ do: 'deleteSet', set }));
}

const carries = (set: ReplicaSet, wanted: Readonly<Record<string, string>>) =>
  Object.entries(wanted).every(([key, value]) => set.metadata.annotations?.[key] === value);

function sameTemplate(deployment: Deployment, set: ReplicaSet): boolean {
  const { [hashLabel]: _hash, ...labels } = set.spec.template?.metadata?.labels ?? {};
  const template = { ...set.spec.template, metadata: { ...set.spec.template?.metadata, labels } };
  return canonicalJson(template) === canonicalJson(deployment.spec.template);
}

function buildSet(deployment: Deployment, annotations: Readonly<Record<string, string>>, replicas: number) {
  const hash = templateHash(deployment.spec.template, deployment.status?.collisionCount ?? 0);
  const labels = { ...deployment.spec.template.metadata?.labels, [hashLabel]: hash };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${deployment.metadata.name}-${hash}`,
      namespace: deployment.metadata.namespace,
      labels,
      annotations,
      ownerReferences: [controllerReference(deployment, 'apps/v1', 'Deployment')],
    },
    spec: {
      replicas,
      ...(deployment.spec.minReadySeconds === undefined
        ? {}
        : { minReadySeconds: deployment.spec.minReadySeconds }),
      selector: {
        ...deployment.spec.selector,
        matchLabels: { ...deployment.spec.selector.matchLabels, [hashLabel]: hash },
      },
      template: {
        ...deployment.spec.template,
        metadata: { ...deployment.spec.template.metadata, labels },
      },
    },
  };
}
