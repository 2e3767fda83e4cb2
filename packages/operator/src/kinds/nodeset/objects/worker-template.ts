/** The pod that every worker of a NodeSet is made from, slot aside. */
import {
  annotation,
  app,
  type Controller,
  keyFile,
  label,
  type NodeSet,
  port,
  resourceName,
} from '@slurm-operator/api';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import { currentKeysSource, slurmKeysEnv } from '../../../objects/key-sources.ts';
import { mergeContainer, mergePodSpec } from '../../../objects/merge-template.ts';
import { objectLabels, selectorLabels } from '../../../objects/object-meta.ts';
import { workerSecurityContext } from '../../../objects/security-contexts.ts';
import { servesHttp } from '../../../objects/slurm-version.ts';
import { slurmctldEndpoints } from '../../../objects/slurmctld-endpoints.ts';
import { instanceTypeOf, reportsBoots, slurmdConf } from '../../../slurm-config/render/slurmd-conf.ts';
import { workerToleration } from './worker-placement.ts';
import { workerSsh } from './worker-ssh.ts';

export interface WorkerTemplate {
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
  readonly spec: IPodSpec;
}

export interface WorkerDefaults {
  /** The domain of Services, `cluster.local` nearly everywhere. */
  readonly clusterDomain: string;
  readonly defaultImage: string;
}

/** Labels by which the pods of a NodeSet are found. */
export function workerSelector(nodeSet: NodeSet): Record<string, string> {
  return selectorLabels('worker', nodeSet.metadata.name);
}

export function workerTemplate(
  nodeSet: NodeSet,
  controller: Controller,
  defaults: WorkerDefaults,
): WorkerTemplate {
  const { template } = nodeSet.spec;
  const spec = mergePodSpec(generatedSpec(nodeSet, controller, defaults), template?.spec);
  return {
    labels: {
      ...template?.metadata?.labels,
      ...objectLabels('worker', nodeSet.metadata.name, nodeSet.spec.controllerRef.name),
    },
    annotations: {
      ...template?.metadata?.annotations,
      [annotation.defaultContainer]: app.worker,
      [annotation.slurmKeysFile]: keyFile.slurmKeys,
    },
    spec,
  };
}

function generatedSpec(nodeSet: NodeSet, controller: Controller, defaults: WorkerDefaults): IPodSpec {
  const service = resourceName.workers(controller.metadata.name);
  return {
    subdomain: service,
    dnsConfig: { searches: [`${service}.${controller.metadata.namespace}.svc.${defaults.clusterDomain}`] },
    enableServiceLinks: false,
    automountServiceAccountToken: false,
    // In the network of its machine a pod would ask that machine's name server, which knows no Service.
    ...(nodeSet.spec.template?.spec?.hostNetwork ? { dnsPolicy: 'ClusterFirstWithHostNet' } : {}),
    tolerations: [workerToleration],
    ...(nodeSet.spec.oversubscribeNode ? {} : { affinity: oneWorkerPerNode }),
    containers: [slurmdContainer(nodeSet, controller, defaults)],
    volumes: [
      {
        name: 'slurm-etc',
        projected: {
          defaultMode: 0o600,
          sources: [slurmKey(controller), currentKeysSource(controller.metadata.name), notifiedKeys],
        },
      },
      { name: 'slurm-logfile', emptyDir: {} },
      ...workerSsh(nodeSet).volumes,
    ],
  };
}

/** The digest of the keys that the worker should use: one that starts with a stale copy of the file waits. */
const notifiedKeys = {
  downwardAPI: {
    items: [
      {
        path: 'slurm-keys-notified',
        fieldRef: { fieldPath: `metadata.annotations['${annotation.slurmKeyHash}']` },
      },
    ],
  },
};

function slurmKey(controller: Controller) {
  const { slurmKeyRef } = controller.spec;
  return {
    secret: { name: slurmKeyRef?.name ?? '', items: [{ key: slurmKeyRef?.key ?? '', path: keyFile.slurm }] },
  };
}

/** Across all NodeSets: two slurmd on one machine would both believe that it is theirs. */
const oneWorkerPerNode = {
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      {
        topologyKey: 'kubernetes.io/hostname',
        labelSelector: {
          matchExpressions: [{ key: label.name, operator: 'In' as const, values: [app.worker] }],
        },
      },
    ],
  },
};

function slurmdContainer(nodeSet: NodeSet, controller: Controller, defaults: WorkerDefaults): IContainer {
  const image = nodeSet.spec.slurmd?.image ?? defaults.defaultImage;
  const servers = slurmctldEndpoints(controller)
    .map((endpoint) => `${endpoint.host}:${endpoint.port}`)
    .join(',');
  const probe = (path: string) =>
    servesHttp(image) ? { httpGet: { path, port: app.worker } } : { tcpSocket: { port: app.worker } };
  const topology = { fieldRef: { fieldPath: `metadata.annotations['${annotation.topology}']` } };
  const base: IContainer = {
    name: app.worker,
    image,
    // The instance id ties a registration to this very pod, not to its predecessor of the same name.
    args: [
      '-Z',
      ...(reportsBoots(nodeSet, controller) ? ['-b'] : []),
      '--instance-id',
      '$(POD_UID)',
      '--conf-server',
      servers,
      '--instance-type',
      instanceTypeOf(nodeSet.metadata.uid),
      '--conf',
      shellQuoted(slurmdConf(nodeSet)),
    ],
    env: [
      { name: 'POD_UID', valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } } },
      // The same under the name that our images read and under the one that upstream's do.
      { name: 'POD_TOPOLOGY', valueFrom: topology },
      { name: 'SLINKY_TOPOLOGY', valueFrom: topology },
      slurmKeysEnv,
    ],
    ports: [{ name: app.worker, containerPort: port.slurmd }, ...workerSsh(nodeSet).ports],
    // A minute in all, as upstream gives it, but asked every second: a worker that is up should not wait to be noticed.
    startupProbe: { ...probe('/livez'), failureThreshold: 60, periodSeconds: 1 },
    // A job may take every processor of the machine, and to kill a slurmd that is only slow to answer would kill that job.
    // Five minutes, as long as slurmctld waits for a slurmd by default: the jobs of a worker end with its container.
    livenessProbe: { ...probe('/livez'), failureThreshold: 30, periodSeconds: 10, timeoutSeconds: 10 },
    readinessProbe: { ...probe('/readyz'), periodSeconds: 5, timeoutSeconds: 5 },
    // Its last lines say why it ended; the operator quotes them.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: workerSecurityContext(nodeSet),
    volumeMounts: [
      { name: 'slurm-etc', mountPath: '/etc/slurm', readOnly: true },
      { name: 'slurm-logfile', mountPath: '/var/log/slurm' },
      ...workerSsh(nodeSet).mounts,
    ],
  };
  return mergeContainer(base, nodeSet.spec.slurmd);
}

/**
 * A text as one word for a shell. Entrypoints of slurmd images read their arguments as a shell does: upstream's joins them and hands
 * them to `bash -c`, ours takes quotes off. Without quotes only the first pair of a configuration would reach slurmd.
 */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The text of a word that {@link shellQuoted} made. */
export function shellUnquoted(word: string): string {
  return /^'.*'$/s.test(word) ? word.slice(1, -1).replaceAll(`'\\''`, "'") : word;
}
