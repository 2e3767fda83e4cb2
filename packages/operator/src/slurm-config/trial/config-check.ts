/**
 * The trial of a configuration: a second slurmctld, in a pod of its own, on the new files and with other port, state and pid, and a slurmd
 * of every worker image in use. Both end on a file that they cannot use, so what one would refuse must never reach it.
 */
import { annotation, app, type Controller, label, uid } from '@slurm-operator/api';
import type { Pod } from '@slurm-operator/kube';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import { mergeContainer } from '../../objects/merge-template.ts';
import type { OperatorDefaults } from '../../objects/operator-defaults.ts';
import type { Read } from '../../objects/read.ts';
import { slurmctldSecurityContext } from '../../objects/security-contexts.ts';
import { roundDirectory, trialHost } from './trial-conf.ts';
import { slurmctldOnly, type TrialFilesInput, trialName, trialVolumes } from './trial-files.ts';
import { imageSeconds, sharedDirectory, slurmctldScript } from './trial-scripts.ts';
import { buildTrialWorker, type TrialPart } from './trial-worker.ts';

/** `app.kubernetes.io/name` of the pod that tries a configuration. */
export const trialApp = 'config-check';

/** Names the configuration that a trial is about. */
export const trialAnnotation = 'controller.slinky.slurm.net/config-trial';
/** Names the part of the trial that a pod is. */
export const trialPartAnnotation = 'controller.slinky.slurm.net/config-trial-part';

export interface TrialPodInput extends TrialFilesInput {
  readonly defaults: OperatorDefaults;
  readonly digest: string;
}

export function buildTrialPod(input: TrialPodInput): Pod {
  const { controller, defaults, digest, part = slurmctldOnly } = input;
  const { name, namespace } = controller.metadata;
  const { slurmctld, template } = controller.spec;
  const { workers, scope } = part;
  const memory = { emptyDir: { medium: 'Memory' as const } };
  const parts = workers.map((worker, index) => buildTrialWorker(worker, index, scope));
  const volumes = trialVolumes(input);
  const pullSecrets = allPullSecrets([template, ...workers.map(({ nodeSet }) => nodeSet.spec.template)]);
  const base: IContainer = {
    name: 'slurmctld',
    image: slurmctld?.image ?? defaults.images.slurmctld,
    ...(slurmctld?.imagePullPolicy === undefined ? {} : { imagePullPolicy: slurmctld.imagePullPolicy }),
    command: ['/bin/bash', '-c', slurmctldScript],
    env: [{ name: 'TRIAL_WORKERS', value: workers.map(({ id }) => id).join(' ') }],
    // Without a report the last lines of its log say what happened.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: slurmctldSecurityContext,
    volumeMounts: [
      ...volumes.map(({ volume: { name: volume }, round }) => ({
        name: volume,
        mountPath: roundDirectory[round],
        readOnly: true,
      })),
      { name: 'run', mountPath: '/run' },
      { name: 'authsocket', mountPath: '/run/slurmctld' },
      { name: 'log', mountPath: '/var/log/slurm' },
      { name: 'tmp', mountPath: '/tmp' },
      { name: 'trial', mountPath: sharedDirectory },
    ],
  };
  const container = mergeContainer(base, {
    securityContext: slurmctld?.securityContext as IContainer['securityContext'],
  });
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
      name: trialName(name, part.id),
      namespace,
      labels,
      annotations: {
        [trialAnnotation]: digest,
        [trialPartAnnotation]: part.id,
        [annotation.defaultContainer]: app.controller,
      },
    },
    spec: {
      restartPolicy: 'Never',
      // The files name it; a pod's own name may be too long for a host.
      hostname: trialHost,
      // Images may have to be fetched first, by a node that never had them.
      activeDeadlineSeconds: imageSeconds + 120 + 240 * workers.length,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      // Users and rights are those of each container.
      securityContext: { fsGroup: uid.slurm, ...seccompOf(template) },
      ...(pullSecrets.length === 0 ? {} : { imagePullSecrets: pullSecrets }),
      ...placementOf(controller, part),
      containers: [container, ...parts.map((one) => one.container)],
      volumes: [
        ...volumes.map(({ volume }) => volume),
        { name: 'run', ...memory },
        { name: 'authsocket', ...memory },
        { name: 'log', emptyDir: {} },
        { name: 'tmp', ...memory },
        { name: 'trial', ...memory },
        ...parts.flatMap((one) => one.volumes),
      ],
    },
  };
}

/** With workers where workers run: there the kernel and its control groups are theirs. */
function placementOf(
  controller: Read<Controller>,
  { id, scope, workers, architecture }: TrialPart,
): Partial<IPodSpec> {
  const { name } = controller.metadata;
  const own = (controller.spec.template?.spec ?? {}) as Partial<IPodSpec>;
  const ofWorker = (workers[0]?.nodeSet.spec.template?.spec ?? {}) as Partial<IPodSpec>;
  const isOn = architecture === undefined ? {} : { nodeAffinity: ofArchitecture(architecture) };
  if (scope === 'node')
    return picked(ofWorker, [
      'nodeSelector',
      'tolerations',
      'runtimeClassName',
      'schedulerName',
      'resourceClaims',
      'affinity',
    ]);
  return {
    ...(workers.length === 0 ? {} : { affinity: { ...nearWorkers(name), ...isOn } }),
    // slurmctld may be bound to nodes of one architecture.
    ...picked(id === '' ? own : ofWorker, ['nodeSelector', 'tolerations']),
  };
}

const picked = (spec: Partial<IPodSpec>, fields: readonly (keyof IPodSpec)[]): Partial<IPodSpec> =>
  Object.fromEntries(fields.flatMap((field) => (spec[field] === undefined ? [] : [[field, spec[field]]])));

/** A namespace that asks for one gets it from the template, for slurmctld as well. */
function seccompOf(
  template: Read<Controller>['spec']['template'],
): Pick<NonNullable<IPodSpec['securityContext']>, 'seccompProfile'> {
  const { seccompProfile } = (template?.spec as Partial<IPodSpec> | undefined)?.securityContext ?? {};
  return seccompProfile === undefined ? {} : { seccompProfile };
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

const ofArchitecture = (architecture: string) => ({
  requiredDuringSchedulingIgnoredDuringExecution: {
    nodeSelectorTerms: [
      { matchExpressions: [{ key: 'kubernetes.io/arch', operator: 'In' as const, values: [architecture] }] },
    ],
  },
});

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
