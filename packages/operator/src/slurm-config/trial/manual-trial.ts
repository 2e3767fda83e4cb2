/**
 * A trial that a person asks for (`kubectl slurm diff --try`): slurmctld alone on the desired configuration, in the pod that the operator
 * uses for its own trials, under a name and labels that the operator does not look for. Pure.
 */
import type { ConfigMap, Live, Pod } from '@slurm-operator/kube';
import { buildTrialPod, type TrialPodInput } from './config-check.ts';
import { buildTrialConfig, trialName } from './trial-files.ts';
import { readReport, type TrialResult } from './trial-report.ts';
import { refusedCode } from './trial-scripts.ts';

/** `app.kubernetes.io/name` of its pod and ConfigMap. */
export const manualTrialApp = 'config-try';
/** Kubernetes ends a pod that its caller could not delete. */
const mostSeconds = 600;

export interface ManualTrialInput extends Pick<TrialPodInput, 'controller' | 'defaults' | 'files'> {
  /** The configuration that is tried. */
  readonly config: ConfigMap;
  /** Makes the names unique: several people may try at once. */
  readonly suffix: string;
}

export function buildManualTrial({ controller, defaults, files, config, suffix }: ManualTrialInput): {
  readonly configMap: ConfigMap;
  readonly pod: Pod;
} {
  const own = trialName(controller.metadata.name);
  const name = `${controller.metadata.name}-${manualTrialApp}-${suffix}`;
  const configMap = buildTrialConfig(controller, config);
  const rendered = Object.keys(configMap.data ?? {});
  const pod = buildTrialPod({
    controller,
    defaults,
    digest: suffix,
    rendered,
    ...(files === undefined ? {} : { files }),
  });
  const meta = (of: ConfigMap['metadata']): ConfigMap['metadata'] => ({
    name,
    ...(of.namespace === undefined ? {} : { namespace: of.namespace }),
    labels: {
      ...of.labels,
      'app.kubernetes.io/name': manualTrialApp,
      'app.kubernetes.io/component': manualTrialApp,
    },
  });
  const { spec } = pod;
  return {
    configMap: { ...configMap, metadata: meta(configMap.metadata) },
    pod: {
      ...pod,
      metadata: meta(pod.metadata),
      ...(spec === undefined
        ? {}
        : {
            spec: {
              ...spec,
              activeDeadlineSeconds: mostSeconds,
              volumes: renamed(spec.volumes ?? [], own, name),
            },
          }),
    },
  };
}

/** The volumes with another name of the ConfigMap that the trial has of its own. */
const renamed = (volumes: NonNullable<NonNullable<Pod['spec']>['volumes']>, from: string, to: string) =>
  volumes.map((volume) =>
    volume.projected === undefined
      ? volume
      : {
          ...volume,
          projected: {
            ...volume.projected,
            sources: (volume.projected.sources ?? []).map((source) =>
              source.configMap?.name === from ? { configMap: { ...source.configMap, name: to } } : source,
            ),
          },
        },
  );

/** What the pod says; undefined while it has no result. `waits`: why it has not begun, in the words of Kubernetes. */
export function readManualTrial({
  status,
}: Live<Pod>):
  | TrialResult
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'waits'; readonly message: string } {
  if (status?.phase === 'Succeeded') return { kind: 'passed' };
  const state = status?.containerStatuses?.find(({ name }) => name === 'slurmctld')?.state;
  const ended = state?.terminated;
  if (status?.phase === 'Failed' && ended?.exitCode === refusedCode)
    return readReport(ended.message ?? '', (id) => id);
  if (status?.phase === 'Failed')
    return {
      kind: 'failed',
      message: ended?.message?.trim() || status.message || ended?.reason || 'its pod failed without a reason',
    };
  const unschedulable = status?.conditions?.find(
    ({ type, status: is }) => type === 'PodScheduled' && is === 'False',
  )?.message;
  const waiting = state?.waiting;
  return { kind: 'waits', message: unschedulable ?? waiting?.message ?? waiting?.reason ?? '' };
}
