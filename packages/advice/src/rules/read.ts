/** How rules read Kubernetes objects. */
import { label, type Reason } from '@slurm-operator/api';
import type { Condition, DeepReadonly, Lease, Pod } from '@slurm-operator/kube';

export interface WithConditions {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly status?: { readonly conditions?: readonly DeepReadonly<Condition>[] } | undefined;
}

export const conditionOf = (object: WithConditions, type: string): DeepReadonly<Condition> | undefined =>
  object.status?.conditions?.find((one) => one.type === type);

/** The first condition that has one of these reasons and says that something is not as it should be. */
export function withReason(
  object: WithConditions,
  reasons: readonly Reason[],
): DeepReadonly<Condition> | undefined {
  return object.status?.conditions?.find(({ reason }) => reasons.includes(reason as Reason));
}

export type AnyPod = DeepReadonly<Pod>;

export const component = (pod: AnyPod): string => pod.metadata.labels?.[label.component] ?? '';
export const isWorker = (pod: AnyPod): boolean => component(pod) === 'worker';
/** The name of its Slurm node. */
export const slurmName = (pod: AnyPod): string =>
  pod.metadata.labels?.[label.podHostname] ?? pod.metadata.name;

export const isReady = (pod: AnyPod): boolean =>
  pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;

export const isTerminating = (pod: AnyPod): boolean => pod.metadata.deletionTimestamp !== undefined;

export const time = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Date.parse(text);

/** For how long no operator has renewed its lease, in milliseconds; undefined while one leads, or where there is no lease. */
export function leaderLostFor(lease: DeepReadonly<Lease> | undefined, now: number): number | undefined {
  const renewed = time(lease?.spec?.renewTime ?? undefined);
  const duration = (lease?.spec?.leaseDurationSeconds ?? 15) * 1000;
  return renewed === undefined || now - renewed < 2 * duration ? undefined : now - renewed;
}

export interface ContainerState {
  readonly name: string;
  readonly image: string;
  readonly waiting: string;
  readonly message: string;
  readonly restarts: number;
  /** How the run before this one, or the last one, ended. */
  readonly ended: string;
  readonly endedAt: number | undefined;
}

export function containerStates(pod: AnyPod): readonly ContainerState[] {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const images = new Map(
    [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])].map((one) => [
      one.name,
      one.image ?? '',
    ]),
  );
  return [...initContainerStatuses, ...containerStatuses].map((one) => {
    const ended = one.state?.terminated ?? one.lastState?.terminated;
    return {
      name: one.name,
      image: images.get(one.name) ?? one.image,
      waiting: one.state?.waiting?.reason ?? '',
      message: one.state?.waiting?.message ?? '',
      restarts: one.restartCount,
      ended: ended?.reason ?? '',
      endedAt: time(ended?.finishedAt),
    };
  });
}

/** The scheduler's words for a pod that is on no node. */
export const unschedulable = (pod: AnyPod): string =>
  pod.status?.conditions?.find(
    ({ type, status, reason }) => type === 'PodScheduled' && status === 'False' && reason === 'Unschedulable',
  )?.message ?? '';

/** Log lines of any container of a pod. */
export function logOf(logs: ReadonlyMap<string, string>, pod: AnyPod): string {
  return [...logs]
    .filter(([key]) => key.startsWith(`${pod.metadata.name}/`))
    .map(([, text]) => text)
    .join('\n');
}

/** `26.5` from `slurmd:26.05-trixie`; undefined for a digest or a tag of another form. */
export function releaseOf(image: string): number | undefined {
  const found = /:v?(\d\d)\.(\d\d)/.exec(image);
  return found === null ? undefined : Number(found[1]) * 100 + Number(found[2]);
}

export const release = (number: number): string =>
  `${Math.floor(number / 100)}.${String(number % 100).padStart(2, '0')}`;
