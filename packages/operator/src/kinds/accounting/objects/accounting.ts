/** The Service, Secret and StatefulSet of slurmdbd. */
import { type Accounting, annotation, app, port, resourceName, uid } from '@slurm-operator/api';
import type { Secret, Service, StatefulSet } from '@slurm-operator/kube';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import { jwksSource, keySources, slurmKeysSource } from '../../../objects/key-sources.ts';
import { mergeContainer, mergePodSpec } from '../../../objects/merge-template.ts';
import { builtMeta, selectorLabels, templateMeta } from '../../../objects/object-meta.ts';
import type { OperatorDefaults } from '../../../objects/operator-defaults.ts';
import type { Read } from '../../../objects/read.ts';
import { buildService } from '../../../objects/service.ts';

export const accountingPort = ({ spec }: Read<Accounting>): number => spec.service?.port || port.slurmdbd;

const meta = (accounting: Read<Accounting>, user?: Parameters<typeof builtMeta>[4]) =>
  builtMeta(
    resourceName.accounting(accounting.metadata.name),
    'accounting',
    accounting,
    accounting.metadata.name,
    user,
  );

export function buildAccountingService(accounting: Read<Accounting>): Service {
  return buildService({
    metadata: meta(accounting, accounting.spec.service?.metadata),
    selector: selectorLabels('accounting', accounting.metadata.name),
    port: { name: app.accounting, number: accountingPort(accounting), target: app.accounting },
    nodePort: accounting.spec.service?.nodePort,
    user: accounting.spec.service?.spec,
  });
}

export function buildAccountingSecret(accounting: Read<Accounting>, slurmdbdConf: string): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: meta(accounting),
    data: { 'slurmdbd.conf': Buffer.from(slurmdbdConf).toString('base64') },
  };
}

export interface AccountingWorkloadInput {
  readonly accounting: Read<Accounting>;
  readonly defaults: OperatorDefaults;
  /** The Controller whose keys it follows. */
  readonly keysOf?: string | undefined;
  /** Changes of these restart slurmdbd. */
  readonly hashes: { readonly slurmKey: string; readonly jwtKey: string; readonly slurmdbdConf: string };
}

export function buildAccountingStatefulSet(input: AccountingWorkloadInput): StatefulSet {
  const { accounting, hashes } = input;
  const { template } = accounting.spec;
  const metadata = meta(accounting, template?.metadata);
  const podMeta = templateMeta('accounting', accounting, accounting.metadata.name, template?.metadata);
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata,
    spec: {
      replicas: 1,
      serviceName: metadata.name,
      podManagementPolicy: 'Parallel',
      revisionHistoryLimit: 0,
      selector: { matchLabels: selectorLabels('accounting', accounting.metadata.name) },
      template: {
        metadata: {
          labels: podMeta.labels,
          annotations: {
            ...podMeta.annotations,
            [annotation.defaultContainer]: app.accounting,
            [annotation.slurmKeyHash]: hashes.slurmKey,
            [annotation.jwtKeyHash]: hashes.jwtKey,
            [annotation.slurmdbdConfHash]: hashes.slurmdbdConf,
          },
        },
        spec: mergePodSpec(generatedSpec(input), template?.spec as Partial<IPodSpec> | undefined),
      },
    },
  };
}

const restricted = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };

function generatedSpec(input: AccountingWorkloadInput): IPodSpec {
  const { accounting } = input;
  const memory = { emptyDir: { medium: 'Memory' as const } };
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: { runAsNonRoot: true, runAsUser: uid.slurm, runAsGroup: uid.slurm, fsGroup: uid.slurm },
    initContainers: [initconf(input)],
    containers: [slurmdbd(input)],
    volumes: [
      {
        name: 'slurm-config',
        projected: {
          defaultMode: 0o440,
          sources: [
            { secret: { name: resourceName.accounting(accounting.metadata.name) } },
            ...keySources(accounting.spec),
            ...(input.keysOf === undefined ? [] : [slurmKeysSource(input.keysOf, input.hashes.slurmKey)]),
            ...jwksSource(accounting.spec),
          ],
        },
      },
      { name: 'slurm-etc', ...memory },
      { name: 'run', ...memory },
    ],
  };
}

/** slurmdbd insists on owning its configuration, which a mounted Secret never allows. */
function initconf({ accounting, defaults }: AccountingWorkloadInput): IContainer {
  return {
    name: 'initconf',
    image: accounting.spec.slurmdbd?.image ?? defaults.images.slurmdbd,
    command: [
      '/bin/sh',
      '-c',
      'cp -L /mnt/slurm/* /etc/slurm/ && chmod 600 /etc/slurm/* && mkdir -p /run/slurmdbd',
    ],
    securityContext: restricted,
    volumeMounts: [
      { name: 'slurm-config', mountPath: '/mnt/slurm', readOnly: true },
      { name: 'slurm-etc', mountPath: '/etc/slurm' },
      { name: 'run', mountPath: '/run' },
    ],
  };
}

function slurmdbd({ accounting, defaults }: AccountingWorkloadInput): IContainer {
  const probe = { tcpSocket: { port: app.accounting } };
  const base: IContainer = {
    name: app.accounting,
    image: defaults.images.slurmdbd,
    ports: [{ name: app.accounting, containerPort: port.slurmdbd, protocol: 'TCP' }],
    // A new version may convert the tables of years first: that takes hours, and killing it would start it again.
    startupProbe: { ...probe, failureThreshold: 8640, periodSeconds: 5 },
    readinessProbe: { ...probe, periodSeconds: 3 },
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: { runAsNonRoot: true, runAsUser: uid.slurm, runAsGroup: uid.slurm, ...restricted },
    volumeMounts: [
      { name: 'slurm-etc', mountPath: '/etc/slurm', readOnly: true },
      { name: 'run', mountPath: '/run' },
    ],
  };
  return mergeContainer(base, accounting.spec.slurmdbd as Partial<IContainer> | undefined);
}
