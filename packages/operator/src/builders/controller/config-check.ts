/**
 * The trial of a configuration: a second slurmctld, in a pod of its own, on the new files and with other port, state and pid, and a slurmd
 * of every worker image in use. Both end on a file that they cannot use, so what one would refuse must never reach it.
 */
import { annotation, app, type Controller, label, resourceName, uid } from '@slurm-operator/api';
import type { ConfigMap, Pod } from '@slurm-operator/kube';
import type { IContainer } from 'kubernetes-models/v1/Container';
import { jwksSource, keySources } from '../key-sources.ts';
import { builtMeta } from '../object-meta.ts';
import type { Read } from '../read.ts';
import type { Surroundings } from '../surroundings.ts';
import { referencedConfigMaps } from './stateful-set.ts';
import { currentDirectory, imageSeconds, sharedDirectory, slurmctldScript } from './trial-scripts.ts';
import { buildTrialWorker, type TrialWorkers } from './trial-worker.ts';

/** `app.kubernetes.io/name` of the pod that tries a configuration. */
export const trialApp = 'config-check';

/** Names the configuration that a trial is about. */
export const trialAnnotation = 'controller.slinky.slurm.net/config-trial';

export const trialName = (controller: string): string => `${controller}-config-check`;

export function buildTrialConfig(controller: Read<Controller>, config: ConfigMap): ConfigMap {
  const { name } = controller.metadata;
  return { ...config, metadata: builtMeta(trialName(name), 'controller', controller, name) };
}

export function buildTrialPod(
  controller: Read<Controller>,
  around: Surroundings,
  digest: string,
  { workers, compares }: TrialWorkers = { workers: [], compares: false },
): Pod {
  const { name, namespace } = controller.metadata;
  const { slurmctld, template } = controller.spec;
  const { nodeSelector, tolerations } = template?.spec ?? {};
  const pullSecrets = allPullSecrets([template, ...workers.map(({ nodeSet }) => nodeSet.spec.template)]);
  const memory = { emptyDir: { medium: 'Memory' as const } };
  const parts = workers.map(buildTrialWorker);
  const container: IContainer = {
    name: 'slurmctld',
    image: slurmctld?.image ?? around.images.slurmctld,
    ...(slurmctld?.imagePullPolicy === undefined ? {} : { imagePullPolicy: slurmctld.imagePullPolicy }),
    command: ['/bin/bash', '-c', slurmctldScript],
    env: [
      { name: 'TRIAL_WORKERS', value: String(workers.length) },
      { name: 'TRIAL_COMPARES', value: compares ? 'yes' : 'no' },
    ],
    // The last lines of its log are the verdict.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: {
      runAsNonRoot: true,
      runAsUser: uid.slurm,
      runAsGroup: uid.slurm,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'slurm-etc', mountPath: '/etc/slurm', readOnly: true },
      { name: 'run', mountPath: '/run' },
      { name: 'authsocket', mountPath: '/run/slurmctld' },
      { name: 'tmp', mountPath: '/tmp' },
      { name: 'trial', mountPath: sharedDirectory },
      { name: 'current', mountPath: currentDirectory, readOnly: true },
    ],
  };
  const labels = {
    // Not those of slurmctld: no Service and no budget may take it for one.
    'app.kubernetes.io/name': trialApp,
    'app.kubernetes.io/instance': name,
    'app.kubernetes.io/component': 'config-check',
    'app.kubernetes.io/part-of': 'slurm',
    'app.kubernetes.io/managed-by': 'slurm-operator',
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: trialName(name),
      namespace,
      labels,
      annotations: { [trialAnnotation]: digest, [annotation.defaultContainer]: app.controller },
    },
    spec: {
      restartPolicy: 'Never',
      // Images may have to be fetched first, by a node that never had them.
      activeDeadlineSeconds: imageSeconds + 120 + 240 * workers.length,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      // Users and rights are those of each container.
      securityContext: { fsGroup: uid.slurm },
      ...(pullSecrets.length === 0 ? {} : { imagePullSecrets: pullSecrets }),
      // Where workers run, the kernel and its control groups are those of workers.
      ...(workers.length === 0 ? {} : { affinity: nearWorkers(name) }),
      ...(nodeSelector === undefined ? {} : { nodeSelector }),
      ...(tolerations === undefined ? {} : { tolerations: tolerations as object[] }),
      containers: [container, ...parts.map((part) => part.container)],
      volumes: [
        {
          name: 'slurm-etc',
          projected: {
            defaultMode: 0o550,
            sources: [
              { configMap: { name: trialName(name) } },
              ...keySources(controller.spec),
              ...referencedConfigMaps(controller).map((map) => ({ configMap: { name: map } })),
              ...jwksSource(controller.spec),
            ],
          },
        },
        { name: 'run', ...memory },
        { name: 'authsocket', ...memory },
        { name: 'tmp', ...memory },
        { name: 'trial', ...memory },
        {
          name: 'current',
          configMap: {
            name: resourceName.config(name),
            optional: true,
            items: ['slurm.conf', 'cgroup.conf'].map((file) => ({ key: file, path: file })),
          },
        },
        ...parts.flatMap(({ volumes }) => volumes),
      ],
    },
  };
}

interface Template {
  readonly spec?: { readonly imagePullSecrets?: unknown };
}

function allPullSecrets(templates: readonly (Read<Template> | undefined)[]): { name: string }[] {
  const names = templates.flatMap((template) =>
    ((template?.spec?.imagePullSecrets ?? []) as { name?: string }[]).flatMap(({ name }) => name ?? []),
  );
  return [...new Set(names)].map((name) => ({ name }));
}

const nearWorkers = (cluster: string) => ({
  podAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: [
      {
        weight: 100,
        podAffinityTerm: {
          topologyKey: 'kubernetes.io/hostname',
          labelSelector: { matchLabels: { [label.name]: app.worker, [label.cluster]: cluster } },
        },
      },
    ],
  },
});
