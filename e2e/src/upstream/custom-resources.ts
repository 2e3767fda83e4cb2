/** What upstream's chart creates for a release: keys and custom resources. */
import { imageTag, type SlurmVersion } from '@slurm-operator/images';
import { extraConf } from './slurm-files.ts';
import {
  chartLabels,
  elsewhereOf,
  type Manifest,
  objectName,
  type UserClass,
  workerCount,
  workerStem,
} from './user-class.ts';

export interface Keys {
  readonly slurm: string;
  readonly jwt: string;
  readonly database: string;
}

const refs = {
  slurmKeyRef: { name: 'slurm-auth-slurm', key: 'slurm.key' },
  jwtKeyRef: { name: 'slurm-auth-jwt', key: 'jwt.key' },
};

/**
 * slurmd as upstream's images start it: all arguments joined and read by a shell. The users' own image of this kind is named in
 * `slurmd`, so that workers which are created later start in the same way.
 */
export const likeUpstreamsImage = [
  '/usr/bin/tini',
  '-g',
  '--',
  'bash',
  '-c',
  'options="${SLURMD_OPTIONS:-} $*"; exec bash -c "exec slurmd -D $options"',
  'slurmd-entrypoint.sh',
];

export function slurmdContainer(version: SlurmVersion): object {
  return { image: imageTag('slurmd', version), command: likeUpstreamsImage };
}

export function secretsOf({ slurm, jwt, database }: Keys): Manifest[] {
  const secret = (name: string, stringData: Record<string, string>): Manifest => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, labels: chartLabels },
    immutable: true,
    stringData,
  });
  return [
    secret('slurm-auth-slurm', { 'slurm.key': slurm }),
    secret('slurm-auth-jwt', { 'jwt.key': jwt }),
    secret('mariadb-password', { password: database }),
  ];
}

export function customResources(user: UserClass, version: SlurmVersion): Manifest[] {
  const annotations = { 'meta.helm.sh/release-name': 'slurm', 'meta.helm.sh/release-namespace': user.name };
  const custom = (kind: string, spec: object): Manifest => ({
    apiVersion: 'slinky.slurm.net/v1beta1',
    kind,
    metadata: {
      name: objectName[kind] ?? '',
      labels: chartLabels,
      annotations,
    },
    spec,
  });
  const site = elsewhereOf(user);
  const logfile = { image: imageTag('slurmd', version), resources: {} };
  const controller =
    user.slurmctld === 'elsewhere'
      ? { ...refs, external: true, externalConfig: { host: `slurmctld.${site}`, port: 6817 } }
      : {
          ...refs,
          slurmctld: { image: imageTag('slurmctld', version), resources: {} },
          logfile,
          template: {
            metadata: { labels: chartLabels },
            spec: { nodeSelector: { 'kubernetes.io/os': 'linux' } },
          },
          extraConf,
          configFileRefs: [{ name: 'slurm-config-extra' }],
          persistence:
            user.slurmctld === 'two'
              ? { enabled: true, existingClaim: 'state' }
              : {
                  enabled: true,
                  accessModes: ['ReadWriteOnce'],
                  resources: { requests: { storage: '1Gi' } },
                },
          ...(user.slurmctld === 'two' ? { ha: { enabled: true, backups: 1 } } : {}),
          ...(user.slurmdbd === 'none' ? {} : { accountingRef: { name: 'slurm' } }),
        };
  const accounting =
    user.slurmdbd === 'here'
      ? {
          ...refs,
          slurmdbd: { image: imageTag('slurmdbd', version) },
          storageConfig: {
            host: 'mariadb',
            port: 3306,
            database: 'slurm_acct_db',
            username: 'slurm',
            passwordKeyRef: { name: 'mariadb-password', key: 'password' },
          },
        }
      : { external: true, externalConfig: { host: `slurmdbd.${site}`, port: 6819 } };
  return [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'slurm-config-extra', labels: chartLabels, annotations },
      data: { 'cgroup.conf': 'CgroupPlugin=disabled\n' },
    },
    custom('Controller', controller),
    custom('RestApi', {
      controllerRef: { name: 'slurm' },
      replicas: 1,
      slurmrestd: { image: imageTag('slurmrestd', version) },
    }),
    ...(user.slurmdbd === 'none' ? [] : [custom('Accounting', accounting)]),
    custom('NodeSet', {
      controllerRef: { name: 'slurm' },
      replicas: workerCount,
      scalingMode: 'StatefulSet',
      slurmd: slurmdContainer(version),
      logfile,
      extraConf: 'Weight=5',
      partition: { enabled: true, config: 'State=UP MaxTime=UNLIMITED' },
      template: {
        metadata: { labels: chartLabels },
        spec: { hostname: `${workerStem}-`, nodeSelector: { 'kubernetes.io/os': 'linux' } },
      },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%' } },
      workloadDisruptionProtection: true,
    }),
  ];
}
