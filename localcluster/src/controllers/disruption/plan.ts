/** The status of a PodDisruptionBudget: how many of its pods may go now. */
import { resolveCount, selectorMatches } from '@slurm-operator/kubernetes-values';
import type { Pod, PodDisruptionBudget } from '../../objects/objects.ts';
import { isFinished, isReady, isTerminating } from '../../objects/pods.ts';

export interface Observed {
  readonly budget: PodDisruptionBudget;
  readonly pods: readonly Pod[];
  /** The size that the pod's controller wants (`scale`), or undefined when it has none that can be scaled. */
  readonly scaleOf: (pod: Pod) => { readonly uid: string; readonly replicas: number } | undefined;
}

export type Status = NonNullable<PodDisruptionBudget['status']>;

/** An eviction that was allowed but whose pod is still there counts against the budget for this long. */
const disruptionTimeout = 120_000;

export function planDisruption({ budget, pods, scaleOf }: Observed, now: number): Status {
  const selected = pods.filter(
    (pod) => selectorMatches(budget.spec.selector, pod.metadata.labels) && !isFinished(pod),
  );
  const disrupted = Object.fromEntries(
    Object.entries(budget.status?.disruptedPods ?? {}).filter(
      ([name, at]) =>
        Date.parse(at) + disruptionTimeout > now &&
        selected.some((pod) => pod.metadata.name === name && !isTerminating(pod)),
    ),
  );
  const healthy = selected.filter(
    (pod) => isReady(pod) && !isTerminating(pod) && !(pod.metadata.name in disrupted),
  ).length;
  const { expected, desired } = goals(budget, selected, scaleOf);
  const allowed = expected <= 0 ? 0 : Math.max(0, healthy - desired);
  const sufficient = allowed > 0;
  const generation = budget.metadata.generation ?? 0;
  const before = budget.status?.conditions?.find((entry) => entry.type === 'DisruptionAllowed');
  const status = sufficient ? 'True' : 'False';
  const at = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  return {
    observedGeneration: generation,
    ...(Object.keys(disrupted).length === 0 ? {} : { disruptedPods: disrupted }),
    disruptionsAllowed: allowed,
    currentHealthy: healthy,
    desiredHealthy: desired,
    expectedPods: expected,
    conditions: [
      {
        type: 'DisruptionAllowed',
        status,
        observedGeneration: generation,
        lastTransitionTime: before?.status === status ? before.lastTransitionTime : at,
        reason: sufficient ? 'SufficientPods' : 'InsufficientPods',
        message: '',
      },
    ],
  };
}

/** Whether the size of the owners of the pods is asked for: a plain number to stay needs no such thing. */
export const countsByScale = ({ spec }: PodDisruptionBudget): boolean =>
  typeof spec.minAvailable !== 'number';

/** The status of a budget whose pods cannot be counted: nothing may go. */
export function failSafe(budget: PodDisruptionBudget, message: string, now: number): Status {
  const before = budget.status?.conditions?.find((entry) => entry.type === 'DisruptionAllowed');
  const at = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  return {
    ...budget.status,
    currentHealthy: budget.status?.currentHealthy ?? 0,
    desiredHealthy: budget.status?.desiredHealthy ?? 0,
    expectedPods: budget.status?.expectedPods ?? 0,
    disruptionsAllowed: 0,
    observedGeneration: budget.metadata.generation ?? 0,
    conditions: [
      {
        type: 'DisruptionAllowed',
        status: 'False',
        observedGeneration: budget.metadata.generation ?? 0,
        lastTransitionTime: before?.status === 'False' ? before.lastTransitionTime : at,
        reason: 'SyncFailed',
        message,
      },
    ],
  };
}

function goals(budget: PodDisruptionBudget, pods: readonly Pod[], scaleOf: Observed['scaleOf']) {
  const { minAvailable, maxUnavailable } = budget.spec;
  if (typeof minAvailable === 'number') return { expected: pods.length, desired: minAvailable };
  const scales = new Map<string, number>();
  for (const pod of pods) {
    const scale = scaleOf(pod);
    if (scale !== undefined) scales.set(scale.uid, scale.replicas);
  }
  const expected = [...scales.values()].reduce((sum, replicas) => sum + replicas, 0);
  if (minAvailable !== undefined)
    return { expected, desired: resolveCount(minAvailable, expected, Math.ceil) };
  const away = resolveCount(maxUnavailable ?? 0, expected, Math.ceil);
  return { expected, desired: Math.max(0, expected - away) };
}
