/** The Service, ConfigMap, Secret and Deployment of login nodes. */
import {
  annotation,
  app,
  type Controller,
  keyFile,
  type LoginSet,
  port,
  resourceName,
  uid,
} from '@slurm-operator/api';
import type { ConfigMap, Deployment, Secret, Service } from '@slurm-operator/kube';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import { digestOf } from '../../../objects/digest.ts';
import { slurmKeysEnv, slurmKeysSource } from '../../../objects/key-sources.ts';
import { mergeContainer, mergePodSpec } from '../../../objects/merge-template.ts';
import { builtMeta, selectorLabels, templateMeta } from '../../../objects/object-meta.ts';
import type { OperatorDefaults } from '../../../objects/operator-defaults.ts';
import type { Read } from '../../../objects/read.ts';
import { buildService } from '../../../objects/service.ts';
import { slurmctldEndpoints } from '../../../objects/slurmctld-endpoints.ts';

const meta = (loginSet: Read<LoginSet>, name: string, user?: Parameters<typeof builtMeta>[4]) =>
  builtMeta(name, 'login', loginSet, loginSet.spec.controllerRef.name, user);

export function buildLoginService(loginSet: Read<LoginSet>): Service {
  const { name } = loginSet.metadata;
  return buildService({
    metadata: meta(loginSet, resourceName.login(name), loginSet.spec.service?.metadata),
    selector: selectorLabels('login', name),
    port: { name: app.login, number: loginSet.spec.service?.port || port.ssh, target: app.login },
    nodePort: loginSet.spec.service?.nodePort,
    user: loginSet.spec.service?.spec,
  });
}

export function buildSshConfig(loginSet: Read<LoginSet>): ConfigMap {
  const { extraSshdConfig, rootSshAuthorizedKeys } = loginSet.spec;
  const lines = [
    'Include /etc/ssh/sshd_config.d/*.conf',
    'UsePAM yes',
    'X11Forwarding yes',
    'Subsystem sftp internal-sftp',
    ...(extraSshdConfig ? ['#', '### EXTRA CONFIG ###', extraSshdConfig.trimEnd()] : []),
  ];
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: meta(loginSet, resourceName.sshConfig(loginSet.metadata.name)),
    data: {
      sshd_config: `${lines.join('\n')}\n`,
      authorized_keys: `# Keys that may log in as root.\n${rootSshAuthorizedKeys ? `${rootSshAuthorizedKeys.trimEnd()}\n` : ''}`,
    },
  };
}

export function buildHostKeys(loginSet: Read<LoginSet>, files: Readonly<Record<string, string>>): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: meta(loginSet, resourceName.sshHostKeys(loginSet.metadata.name)),
    // ssh clients remember these keys, so the operator never changes them.
    immutable: true,
    data: Object.fromEntries(
      Object.entries(files).map(([file, content]) => [file, Buffer.from(content).toString('base64')]),
    ),
  };
}

export interface LoginWorkloadInput {
  readonly loginSet: Read<LoginSet>;
  readonly controller: Read<Controller>;
  readonly defaults: OperatorDefaults;
  /** Changes of these replace the pods: single mounted files never change under a running container. */
  readonly hashes: { readonly slurmKey: string; readonly sssdConf: string; readonly hostKeys: string };
}

export function buildLoginDeployment(input: LoginWorkloadInput): Deployment {
  const { loginSet, hashes } = input;
  const { name } = loginSet.metadata;
  const { template, strategy, replicas } = loginSet.spec;
  const metadata = meta(loginSet, resourceName.login(name), template?.metadata);
  const podMeta = templateMeta('login', loginSet, loginSet.spec.controllerRef.name, template?.metadata);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      replicas,
      revisionHistoryLimit: 0,
      selector: { matchLabels: selectorLabels('login', name) },
      // Named also where it is the usual one: what is only left out would not end the one before.
      strategy: { type: 'RollingUpdate', ...strategy } as NonNullable<Deployment['spec']>['strategy'],
      template: {
        metadata: {
          labels: podMeta.labels,
          annotations: {
            ...podMeta.annotations,
            [annotation.defaultContainer]: app.login,
            [annotation.slurmKeyHash]: hashes.slurmKey,
            [annotation.sssdConfHash]: hashes.sssdConf,
            [annotation.sshHostKeysHash]: hashes.hostKeys,
            [annotation.sshdConfHash]: digestOf(buildSshConfig(loginSet).data),
          },
        },
        spec: mergePodSpec(generatedSpec(input), template?.spec as Partial<IPodSpec> | undefined),
      },
    },
  };
}

function generatedSpec(input: LoginWorkloadInput): IPodSpec {
  const { loginSet, controller, defaults } = input;
  const { name } = loginSet.metadata;
  const { slurmKeyRef } = controller.spec;
  const { sssdConfRef } = loginSet.spec;
  const workers = `${resourceName.workers(controller.metadata.name)}.${controller.metadata.namespace}.svc.${defaults.clusterDomain}`;
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    // So that users reach workers by the names that Slurm shows them.
    dnsConfig: { searches: [workers] },
    initContainers: [initconf(input)],
    containers: [login(input)],
    volumes: [
      {
        name: 'slurm-config',
        projected: {
          defaultMode: 0o400,
          sources: [
            {
              secret: {
                name: slurmKeyRef?.name ?? '',
                items: [{ key: slurmKeyRef?.key ?? '', path: keyFile.slurm }],
              },
            },
            ...(controller.spec.external
              ? []
              : [slurmKeysSource(controller.metadata.name, input.hashes.slurmKey)]),
          ],
        },
      },
      { name: 'slurm-etc', emptyDir: { medium: 'Memory' } },
      { name: 'sackd-dir', emptyDir: { medium: 'Memory' } },
      { name: 'ssh-host-keys', secret: { secretName: resourceName.sshHostKeys(name), defaultMode: 0o600 } },
      { name: 'ssh-config', configMap: { name: resourceName.sshConfig(name), defaultMode: 0o600 } },
      {
        name: 'sssd-conf',
        secret: {
          secretName: sssdConfRef.name,
          defaultMode: 0o600,
          items: [{ key: sssdConfRef.key, path: 'sssd.conf' }],
        },
      },
    ],
  };
}

/** sackd runs as slurm and insists on owning its key, which a mounted Secret never allows. */
function initconf({ loginSet, defaults }: LoginWorkloadInput): IContainer {
  const base: IContainer = {
    name: 'initconf',
    image: loginSet.spec.login?.image ?? defaults.images.login,
    command: [
      '/bin/sh',
      '-c',
      `install -o ${uid.slurm} -g ${uid.slurm} -m 0600 /mnt/slurm/slurm.* /mnt/etc/slurm/`,
    ],
    securityContext: { runAsUser: 0, allowPrivilegeEscalation: false },
    volumeMounts: [
      { name: 'slurm-config', mountPath: '/mnt/slurm', readOnly: true },
      { name: 'slurm-etc', mountPath: '/mnt/etc/slurm' },
    ],
  };
  return mergeContainer(base, loginSet.spec.initconf as Partial<IContainer> | undefined);
}

const hostKeyFiles = ['rsa', 'ed25519', 'ecdsa'].flatMap((kind) => [
  `ssh_host_${kind}_key`,
  `ssh_host_${kind}_key.pub`,
]);

function login({ loginSet, controller, defaults }: LoginWorkloadInput): IContainer {
  const servers = slurmctldEndpoints(controller)
    .map(({ host, port: number }) => `${host}:${number}`)
    .join(',');
  const base: IContainer = {
    name: app.login,
    image: defaults.images.login,
    env: [{ name: 'SACKD_OPTIONS', value: `--conf-server ${servers}` }, slurmKeysEnv],
    ports: [{ name: app.login, containerPort: port.ssh, protocol: 'TCP' }],
    // Before sackd has fetched it, commands find no configuration.
    readinessProbe: {
      exec: {
        command: ['/bin/sh', '-c', 'test -S /run/slurm/sack.socket && test -s /run/slurm/conf/slurm.conf'],
      },
      periodSeconds: 3,
    },
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [
      { name: 'slurm-etc', mountPath: '/etc/slurm', readOnly: true },
      { name: 'sackd-dir', mountPath: '/run/slurm' },
      ...hostKeyFiles.map((file) => ({
        name: 'ssh-host-keys',
        mountPath: `/etc/ssh/${file}`,
        subPath: file,
        readOnly: true,
      })),
      { name: 'ssh-config', mountPath: '/etc/ssh/sshd_config', subPath: 'sshd_config', readOnly: true },
      {
        name: 'ssh-config',
        mountPath: '/root/.ssh/authorized_keys',
        subPath: 'authorized_keys',
        readOnly: true,
      },
      { name: 'sssd-conf', mountPath: '/etc/sssd/sssd.conf', subPath: 'sssd.conf', readOnly: true },
    ],
  };
  return mergeContainer(base, loginSet.spec.login as Partial<IContainer> | undefined);
}
