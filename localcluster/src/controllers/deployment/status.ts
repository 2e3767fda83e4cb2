/** The status of a Deployment: the sums over its ReplicaSets, and the two conditions people wait for. */
import type { Deployment, ReplicaSet } from '../../objects/objects.ts';
import { budgetOf } from './plan.ts';

export type Status = NonNullable<Deployment['status']>;
type Condition = NonNullable<Status['conditions']>[number];

interface Input {
  readonly deployment: Deployment;
  readonly owned: readonly ReplicaSet[];
  readonly newest?: ReplicaSet | undefined;
  /** The name of the ReplicaSet this plan creates, if it does. */
  readonly created?: string | undefined;
  readonly now: number;
}

export function statusOf(input: Input): Status {
  const fresh = compute(input);
  const before = input.deployment.status;
  // A new ReplicaSet is reported before anything is counted again.
  if (input.created === undefined || before?.observedGeneration === undefined) return fresh;
  const progressing = fresh.conditions?.find((entry) => entry.type === 'Progressing');
  const others = (before.conditions ?? []).filter((entry) => entry.type !== 'Progressing');
  return { ...before, conditions: progressing === undefined ? others : [...others, progressing] };
}

function compute({ deployment, owned, newest, created, now }: Input): Status {
  const total = (of: (status: NonNullable<ReplicaSet['status']>) => number | undefined) =>
    owned.reduce((sum, set) => sum + (set.status === undefined ? 0 : (of(set.status) ?? 0)), 0);
  const replicas = total((status) => status.replicas);
  const available = total((status) => status.availableReplicas);
  const ready = total((status) => status.readyReplicas);
  const updated = newest?.status?.replicas ?? 0;
  const budget = budgetOf(deployment);
  const unavailable = Math.max(0, budget.wanted - available, replicas - available);
  const at = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  const name = created ?? newest?.metadata.name ?? '';

  const complete =
    newest !== undefined &&
    updated === budget.wanted &&
    replicas === budget.wanted &&
    available === budget.wanted;
  const progress =
    created !== undefined
      ? { status: 'True', reason: 'NewReplicaSetCreated', message: `Created new replica set "${name}"` }
      : complete
        ? {
            status: 'True',
            reason: 'NewReplicaSetAvailable',
            message: `ReplicaSet "${name}" has successfully progressed.`,
          }
        : deadlinePassed(deployment, updated, now)
          ? {
              status: 'False',
              reason: 'ProgressDeadlineExceeded',
              message: `ReplicaSet "${name}" has timed out progressing.`,
            }
          : { status: 'True', reason: 'ReplicaSetUpdated', message: `ReplicaSet "${name}" is progressing.` };
  const minimum = available >= budget.wanted - budget.maxUnavailable;
  const conditions = [
    settle(deployment, at, {
      type: 'Available',
      status: minimum ? 'True' : 'False',
      reason: minimum ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
      message: minimum
        ? 'Deployment has minimum availability.'
        : 'Deployment does not have minimum availability.',
    }),
    settle(deployment, at, { type: 'Progressing', ...progress }),
  ];
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    ...some('replicas', replicas),
    ...some('updatedReplicas', updated),
    ...some('readyReplicas', ready),
    ...some('availableReplicas', available),
    ...some('unavailableReplicas', unavailable),
    terminatingReplicas: total((status) => status.terminatingReplicas),
    ...(deployment.status?.collisionCount === undefined
      ? {}
      : { collisionCount: deployment.status.collisionCount }),
    conditions,
  };
}

function some<K extends string>(key: K, value: number): Partial<Record<K, number>> {
  return value === 0 ? {} : ({ [key]: value } as Record<K, number>);
}

/** Times move only when something did. */
function settle(
  deployment: Deployment,
  at: string,
  wanted: Pick<Condition, 'type' | 'status' | 'reason' | 'message'>,
): Condition {
  const before = deployment.status?.conditions?.find((entry) => entry.type === wanted.type);
  const same =
    before !== undefined &&
    before.status === wanted.status &&
    before.reason === wanted.reason &&
    before.message === wanted.message;
  if (same) return before;
  return {
    type: wanted.type,
    status: wanted.status,
    lastUpdateTime: at,
    lastTransitionTime: before?.status === wanted.status ? (before.lastTransitionTime ?? at) : at,
    reason: wanted.reason,
    message: wanted.message,
  };
}

/** No progress for progressDeadlineSeconds: neither a new replica nor a change of the condition. */
function deadlinePassed(deployment: Deployment, updated: number, now: number): boolean {
  const deadline = deployment.spec.progressDeadlineSeconds;
  const before = deployment.status?.conditions?.find((entry) => entry.type === 'Progressing');
  if (deadline === undefined || before?.lastUpdateTime === undefined) return false;
  if (before.reason === 'ProgressDeadlineExceeded') return true;
  if (before.reason === 'NewReplicaSetAvailable') return false;
  if (updated !== (deployment.status?.updatedReplicas ?? 0)) return false;
  return Date.parse(before.lastUpdateTime) + deadline * 1000 < now;
}
