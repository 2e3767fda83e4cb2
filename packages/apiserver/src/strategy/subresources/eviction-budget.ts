/** Whether budgets let a pod go: a decision over plain objects. */

import type { LabelSelector } from '@slurm-operator/kubernetes-values';
import { ApiError } from '../../api/errors.ts';
import { clone } from '../../api/json.ts';
import { typed } from '../../api/typed.ts';
import type { KubeObject, ObjectMeta } from '../../api/types.ts';

export interface DisruptionBudget {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly selector?: LabelSelector; readonly unhealthyPodEvictionPolicy?: string };
  readonly status?: {
    disruptionsAllowed: number;
    readonly currentHealthy: number;
    readonly desiredHealthy: number;
    readonly observedGeneration?: number;
    disruptedPods?: Record<string, string>;
    conditions?: { type: string; status: string; reason: string; [key: string]: unknown }[];
  };
}

export type EvictionDecision =
  | { readonly outcome: 'free' }
  | { readonly outcome: 'within-budget'; readonly budget: DisruptionBudget }
  | { readonly outcome: 'refused'; readonly error: ApiError };

const FREE: EvictionDecision = { outcome: 'free' };
/** Retry-After for a budget that the disruption controller has not observed yet. */
const UNPROCESSED_RETRY_SECONDS = 10;

interface PodView {
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

export function decideEviction(pod: KubeObject, budgets: readonly DisruptionBudget[]): EvictionDecision {
  const { status } = typed<PodView>(pod);
  const over = ['Pending', 'Succeeded', 'Failed'].includes(status?.phase ?? '');
  if (over || pod.metadata.deletionTimestamp !== undefined) return FREE;
  if (budgets.length > 1)
    return refused(
      new ApiError(
        500,
        '',
        'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
      ),
    );
  const [budget] = budgets;
  if (!budget) return FREE;
  const ready =
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
  if (!ready && mayGoUnhealthy(budget)) return FREE;
  return askBudget(budget);
}

/** A pod that is not ready may be evicted if the budget allows it, or if enough others are healthy. */
function mayGoUnhealthy({ spec, status }: DisruptionBudget): boolean {
  if (spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  return status !== undefined && status.desiredHealthy > 0 && status.currentHealthy >= status.desiredHealthy;
}

function askBudget(budget: DisruptionBudget): EvictionDecision {
  const { status, metadata } = budget;
  const name = metadata.name ?? '';
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0))
    return refused(
      violates(
        `The disruption budget ${name} is still being processed by the server.`,
        UNPROCESSED_RETRY_SECONDS,
      ),
    );
  if ((status?.disruptionsAllowed ?? 0) <= 0)
    return refused(
      violates(
        `The disruption budget ${name} needs ${status?.desiredHealthy ?? 0} healthy pods and has ${status?.currentHealthy ?? 0} currently`,
      ),
    );
  return { outcome: 'within-budget', budget };
}

function refused(error: ApiError): EvictionDecision {
  return { outcome: 'refused', error };
}

function violates(message: string, retryAfterSeconds?: number): ApiError {
  return new ApiError(
    429,
    'TooManyRequests',
    "Cannot evict pod as it would violate the pod's disruption budget.",
    {
      details: {
        causes: [{ reason: 'DisruptionBudget', message }],
        ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      },
      ...(retryAfterSeconds === undefined ? {} : { headers: { 'Retry-After': String(retryAfterSeconds) } }),
    },
  );
}

/** The budget with one disruption less, and the pod recorded so that it does not count as healthy meanwhile. */
export function takeFromBudget(budget: DisruptionBudget, pod: string, time: string): DisruptionBudget {
  const charged = clone(budget);
  const { status } = charged;
  if (!status) return charged;
  status.disruptionsAllowed -= 1;
  status.disruptedPods = { ...status.disruptedPods, [pod]: time };
  if (status.disruptionsAllowed === 0)
    for (const condition of status.conditions ?? []) {
      if (condition.type !== 'DisruptionAllowed') continue;
      condition.status = 'False';
      condition.reason = 'InsufficientPods';
    }
  return charged;
}
