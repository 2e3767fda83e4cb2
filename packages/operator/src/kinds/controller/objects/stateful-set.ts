/** The StatefulSet that runs slurmctld. */
import { annotation, app, type Controller, resourceName, uid } from '@slurm-operator/api';
import type { StatefulSet } from '@slurm-operator/kube';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPersistentVolumeClaimSpec } from 'kubernetes-models/v1/PersistentVolumeClaimSpec';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { IVolume } from 'kubernetes-models/v1/Volume';
import {
  jwksSource,
  keySources,
  type ProjectedSource,
  slurmKeysSource,
} from '../../../objects/key-sources.ts';
import { mergeContainer, mergePodSpec } from '../../../objects/merge-template.ts';
import { builtMeta, selectorLabels, templateMeta } from '../../../objects/object-meta.ts';
import type { OperatorDefaults } from '../../../objects/operator-defaults.ts';
import type { Read } from '../../../objects/read.ts';
import { slurmctldSecurityContext } from '../../../objects/security-contexts.ts';
import { servesHttp } from '../../../objects/slurm-version.ts';
import { clusterNameOf, controllerReplicas, slurmctldPort } from '../../../objects/slurmctld-endpoints.ts';
import { referencedConfigMaps } from '../../../slurm-config/render/config-map.ts';
import { stateSaveLocation } from '../../../slurm-config/render/slurm-conf.ts';
import { fixOwnershipContainer } from './fix-ownership.ts';
import { approvedFile, configSeenAnnotation, reconfigureContainer } from './reconfigure.ts';

export interface ControllerWorkloadInput {
  readonly controller: Read<Controller>;
  readonly defaults: OperatorDefaults;
  /** Changes of these restart slurmctld. */
  readonly hashes: { readonly slurmKey: string; readonly jwtKey: string; readonly restart: string };
}

const stateVolume = 'statesave';
/** As the StatefulSet controller names it. */
export const stateClaimName = (set: string, ordinal: number): string => `${stateVolume}-${set}-${ordinal}`;
/** The volume with slurm.conf, the user's files and the keys. */
const etcVolume = 'slurm-etc';

/** The ConfigMaps whose files its pods see in /etc/slurm. */
export function mountedConfigMaps(set: Read<StatefulSet>): string[] {
  const etc = set.spec?.template.spec?.volumes?.find(({ name }) => name === etcVolume);
  return (etc?.projected?.sources ?? []).flatMap(({ configMap }) => configMap?.name ?? []);
}

export function buildControllerStatefulSet(input: ControllerWorkloadInput): StatefulSet {
  const { controller, hashes } = input;
  const { name } = controller.metadata;
  const { template } = controller.spec;
  const meta = builtMeta(resourceName.controller(name), 'controller', controller, name, template?.metadata);
  const podMeta = templateMeta('controller', controller, name, template?.metadata);
  const claim = claimTemplate(controller);
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: meta,
    spec: {
      replicas: controllerReplicas(controller),
      serviceName: resourceName.controllerInternal(name),
      // A standby is never ready: the next pod must not wait for it.
      podManagementPolicy: 'Parallel',
      // Nor must a rollout, which would never end: with standbys the operator recreates the pods itself.
      ...(controllerReplicas(controller) > 1 ? { updateStrategy: { type: 'OnDelete' as const } } : {}),
      revisionHistoryLimit: 0,
      selector: { matchLabels: selectorLabels('controller', name) },
      template: {
        metadata: {
          labels: podMeta.labels,
          annotations: {
            ...podMeta.annotations,
            [annotation.defaultContainer]: app.controller,
            [annotation.slurmKeyHash]: hashes.slurmKey,
            [annotation.jwtKeyHash]: hashes.jwtKey,
            [annotation.slurmConfigHash]: hashes.restart,
          },
        },
        spec: mergePodSpec(generatedSpec(input), template?.spec as Partial<IPodSpec> | undefined),
      },
      ...(claim === undefined ? {} : { volumeClaimTemplates: [claim] }),
    },
  };
}

function generatedSpec(input: ControllerWorkloadInput): IPodSpec {
  const { controller, defaults } = input;
  const state = stateMount(controller);
  const initContainers = fixOwnershipContainer({ controller, defaults, state });
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: uid.slurm,
      runAsGroup: uid.slurm,
      fsGroup: uid.slurm,
      // A state volume with a million files is not walked at every start.
      fsGroupChangePolicy: 'OnRootMismatch',
    },
    ...(controllerReplicas(controller) > 1 ? { affinity: apart(controller.metadata.name) } : {}),
    ...(initContainers.length > 0 ? { initContainers } : {}),
    containers: [slurmctld(input), reconfigureContainer({ controller, defaults, state })],
    volumes: volumes(input),
  };
}

/** Two controllers on one machine would be lost together. */
const apart = (name: string) => ({
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      {
        topologyKey: 'kubernetes.io/hostname',
        labelSelector: { matchLabels: selectorLabels('controller', name) },
      },
    ],
  },
});

/**
 * A slurmctld that is still starting forgets a SIGTERM (24.11 and 26.05). It would accept jobs until it is killed at the end of the grace period, and
 * lose those that it had not saved. So the signal waits until slurmctld responds, ten seconds at most.
 */
export const awaitStarted = `while [ $SECONDS -lt 10 ]; do
  if timeout 2 scontrol ping 2>/dev/null | grep -q " at $HOSTNAME is UP"; then break; fi
  sleep 0.2
done`;

function slurmctld({ controller, defaults }: ControllerWorkloadInput): IContainer {
  const image = controller.spec.slurmctld?.image ?? defaults.images.slurmctld;
  const probe = (path: string) =>
    servesHttp(image) ? { httpGet: { path, port: app.controller } } : { tcpSocket: { port: app.controller } };
  const base: IContainer = {
    name: app.controller,
    image,
    ports: [{ name: app.controller, containerPort: slurmctldPort(controller), protocol: 'TCP' }],
    // Ten minutes: one without a saved state of accounting waits for slurmdbd, and each kill would double the wait for its next start.
    startupProbe: { ...probe('/livez'), failureThreshold: 300, periodSeconds: 2, timeoutSeconds: 5 },
    // A slurmctld of thousands of nodes may think for seconds; Kubernetes would give it one.
    livenessProbe: { ...probe('/livez'), failureThreshold: 6, periodSeconds: 10, timeoutSeconds: 10 },
    readinessProbe: { ...probe('/readyz'), periodSeconds: 3, timeoutSeconds: 5 },
    // Its last log line says why it exited; the operator reports it.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    lifecycle: { preStop: { exec: { command: ['/bin/bash', '-c', awaitStarted] } } },
    securityContext: slurmctldSecurityContext,
    volumeMounts: [
      { name: etcVolume, mountPath: '/etc/slurm', readOnly: true },
      { name: 'run', mountPath: '/run' },
      { name: 'slurm-authsocket', mountPath: '/run/slurmctld' },
      stateMount(controller),
      { name: 'slurm-logfile', mountPath: '/var/log/slurm' },
    ],
  };
  return mergeContainer(base, controller.spec.slurmctld as Partial<IContainer> | undefined);
}

const stateMount = (controller: Read<Controller>) => ({
  name: stateVolume,
  mountPath: stateSaveLocation(clusterNameOf(controller)),
});

function volumes(input: ControllerWorkloadInput): IVolume[] {
  const { persistence } = input.controller.spec;
  const memory = { emptyDir: { medium: 'Memory' as const } };
  return [
    { name: etcVolume, projected: { defaultMode: 0o550, sources: etcSources(input) } },
    { name: 'run', ...memory },
    { name: 'slurm-authsocket', ...memory },
    { name: 'slurm-logfile', emptyDir: {} },
    ...(persistence.enabled
      ? persistence.existingClaim
        ? [{ name: stateVolume, persistentVolumeClaim: { claimName: persistence.existingClaim } }]
        : []
      : [{ name: stateVolume, emptyDir: {} }]),
  ];
}

function etcSources({ controller, hashes }: ControllerWorkloadInput): ProjectedSource[] {
  return [
    { configMap: { name: resourceName.config(controller.metadata.name) } },
    ...keySources(controller.spec),
    slurmKeysSource(controller.metadata.name, hashes.slurmKey, 0o440),
    ...referencedConfigMaps(controller).map((name) => ({ configMap: { name } })),
    ...jwksSource(controller.spec),
    {
      downwardAPI: {
        items: [
          { path: approvedFile, fieldRef: { fieldPath: `metadata.annotations['${configSeenAnnotation}']` } },
        ],
      },
    },
  ];
}

function claimTemplate({ spec }: Read<Controller>) {
  const { enabled, existingClaim, fixOwnership: _, ...claim } = spec.persistence;
  if (!enabled || existingClaim) return undefined;
  const defaults: IPersistentVolumeClaimSpec = {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '4Gi' } },
  };
  return {
    apiVersion: 'v1' as const,
    kind: 'PersistentVolumeClaim' as const,
    metadata: { name: stateVolume },
    spec: { ...defaults, ...(claim as IPersistentVolumeClaimSpec) },
  };
}
