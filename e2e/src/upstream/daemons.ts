/** What upstream's operator makes for the control plane: names, labels, volumes, probes and arguments are its own. */
import { imageTag, type SlurmVersion } from '@slurm-operator/images';
import type { Keys } from './custom-resources.ts';
import { clusterNameOf, externalSlurmConf, extraConf, slurmConf, slurmdbdConf } from './slurm-files.ts';
import { type Manifest, selectorOf, type UserClass } from './user-class.ts';

export interface PodTemplate {
  readonly metadata: object;
  readonly spec: object;
}

export const activeLabel = 'controller.slinky.slurm.net/active';

const slurmUser = { runAsNonRoot: true, runAsUser: 401, runAsGroup: 401, fsGroup: 401 };
const memory = (name: string) => ({ name, emptyDir: { medium: 'Memory' } });

/** Slurm's daemons log into a pipe, which this side container reads. */
export const logfileContainer = (image: string, path: string) => ({
  name: 'logfile',
  image,
  command: [
    'sh',
    '-c',
    'test -p "$SOCKET" || { rm -f "$SOCKET"; mkfifo -m 777 "$SOCKET"; }; while true; do cat "$SOCKET"; sleep 1; done',
  ],
  env: [{ name: 'SOCKET', value: path }],
  restartPolicy: 'Always',
  volumeMounts: [{ name: 'slurm-logfile', mountPath: '/var/log/slurm' }],
});

/** What its pods inherit from no object: upstream restarts the daemon when a digest changes. */
const digests = { 'slinky.slurm.net/slurm-key-hash': '0f3a', 'slinky.slurm.net/jwt-key-hash': '1b2c' };

const serviceOf = (
  owner: Manifest['owner'] & string,
  name: string,
  labels: Record<string, string>,
  port: { name: string; port: number },
  more: object = {},
): Manifest => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, labels },
  owner,
  spec: {
    selector: {
      'app.kubernetes.io/name': labels['app.kubernetes.io/name'],
      'app.kubernetes.io/instance': 'slurm',
    },
    ports: [{ ...port, protocol: 'TCP', targetPort: port.name }],
    ...more,
  },
});

const keyFiles = [
  { secret: { name: 'slurm-auth-slurm', items: [{ key: 'slurm.key', path: 'slurm.key' }] } },
  { secret: { name: 'slurm-auth-jwt', items: [{ key: 'jwt.key', path: 'jwt.key' }] } },
];

/** Slurm 24.11 serves no HTTP: users who run it with the operator of upstream have TCP probes in their pod templates. */
export const probesOf = (version: SlurmVersion, port: string) => (path: string) => ({
  ...(version === '24.11' ? { tcpSocket: { port } } : { httpGet: { path, port } }),
  failureThreshold: 6,
  periodSeconds: 10,
});

function slurmctldTemplate(user: UserClass, version: SlurmVersion, labels: object): PodTemplate {
  const image = imageTag('slurmctld', version);
  const probe = probesOf(version, 'slurmctld');
  const claim = { name: 'statesave', persistentVolumeClaim: { claimName: 'state' } };
  return {
    metadata: {
      labels,
      annotations: {
        'kubectl.kubernetes.io/default-container': 'slurmctld',
        ...digests,
        'slinky.slurm.net/slurm-config-hash': '77aa',
      },
    },
    spec: {
      automountServiceAccountToken: false,
      securityContext: slurmUser,
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      initContainers: [logfileContainer(image, '/var/log/slurm/slurmctld.log')],
      containers: [
        {
          name: 'slurmctld',
          image,
          ports: [{ name: 'slurmctld', containerPort: 6817, protocol: 'TCP' }],
          startupProbe: probe('/livez'),
          livenessProbe: probe('/livez'),
          readinessProbe: probe(user.slurmctld === 'two' ? '/livez' : '/readyz'),
          volumeMounts: [
            { name: 'slurm-etc', mountPath: '/etc/slurm', readOnly: true },
            { name: 'run', mountPath: '/run' },
            { name: 'statesave', mountPath: `/var/spool/slurmctld/${clusterNameOf(user)}` },
            { name: 'slurm-authsocket', mountPath: '/run/slurmctld' },
            { name: 'slurm-logfile', mountPath: '/var/log/slurm' },
          ],
        },
      ],
      volumes: [
        {
          name: 'slurm-etc',
          projected: {
            defaultMode: 0o610,
            sources: [
              { configMap: { name: 'slurm-config' } },
              ...keyFiles,
              { configMap: { name: 'slurm-config-extra' } },
            ],
          },
        },
        memory('run'),
        { name: 'slurm-authsocket', emptyDir: {} },
        memory('slurm-logfile'),
        ...(user.slurmctld === 'two' ? [claim] : []),
      ],
    },
  };
}

function slurmctld(user: UserClass, version: SlurmVersion, users: string): Manifest[] {
  const labels = { ...selectorOf('slurmctld', 'slurm'), 'app.kubernetes.io/component': 'controller' };
  const port = { name: 'slurmctld', port: 6817 };
  const config = (data: object): Manifest => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'slurm-config', labels },
    owner: 'Controller',
    data,
  });
  if (user.slurmctld === 'elsewhere') return [config({ 'slurm.conf': externalSlurmConf(user) })];
  const selector = selectorOf('slurmctld', 'slurm');
  return [
    serviceOf('Controller', 'slurm-controller-internal', labels, port, {
      clusterIP: 'None',
      publishNotReadyAddresses: true,
    }),
    serviceOf('Controller', 'slurm-controller', labels, port, {
      selector: { ...selector, [activeLabel]: 'true' },
    }),
    config({ 'slurm.conf': slurmConf(user, users) }),
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'slurm-controller', labels },
      owner: 'Controller',
      spec: {
        replicas: user.slurmctld === 'two' ? 2 : 1,
        revisionHistoryLimit: 0,
        serviceName: 'slurm-controller-internal',
        selector: { matchLabels: selector },
        template: slurmctldTemplate(user, version, labels),
        ...(user.slurmctld === 'two'
          ? {}
          : {
              volumeClaimTemplates: [
                {
                  metadata: { name: 'statesave' },
                  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
                },
              ],
            }),
      },
    },
  ];
}

function slurmrestd(user: UserClass, version: SlurmVersion): Manifest[] {
  const selector = selectorOf('slurmrestd', 'slurm');
  const labels = { ...selector, 'app.kubernetes.io/component': 'restapi' };
  const unprivileged = { runAsNonRoot: true, runAsUser: 65534, runAsGroup: 65534, fsGroup: 65534 };
  const container = {
    name: 'slurmrestd',
    image: imageTag('slurmrestd', version),
    args: [...(user.slurmdbd === 'none' ? ['-s', 'openapi/slurmctld'] : []), '0.0.0.0:6820'],
    env: [
      { name: 'SLURM_JWT', value: 'daemon' },
      { name: 'SLURMRESTD_SECURITY', value: 'disable_unshare_files,disable_unshare_sysv' },
    ],
    ports: [{ name: 'slurmrestd', containerPort: 6820, protocol: 'TCP' }],
    readinessProbe: { tcpSocket: { port: 'slurmrestd' } },
    volumeMounts: [{ name: 'slurm-etc', mountPath: '/etc/slurm', readOnly: true }],
  };
  const sources = [
    { configMap: { name: 'slurm-config', items: [{ key: 'slurm.conf', path: 'slurm.conf' }] } },
    keyFiles[0],
  ];
  return [
    serviceOf('RestApi', 'slurm-restapi', labels, { name: 'slurmrestd', port: 6820 }),
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'slurm-restapi', labels },
      owner: 'RestApi',
      spec: {
        replicas: 1,
        revisionHistoryLimit: 0,
        selector: { matchLabels: selector },
        template: {
          metadata: { labels, annotations: { 'kubectl.kubernetes.io/default-container': 'slurmrestd' } },
          spec: {
            automountServiceAccountToken: false,
            securityContext: unprivileged,
            containers: [container],
            volumes: [{ name: 'slurm-etc', projected: { defaultMode: 0o600, sources } }],
          },
        },
      },
    },
  ];
}

/** slurmdbd refuses a file that its group may read: what the kubelet mounts is copied first. */
export function slurmdbdPod(version: SlurmVersion, secret: string): object {
  const image = imageTag('slurmdbd', version);
  return {
    automountServiceAccountToken: false,
    securityContext: slurmUser,
    initContainers: [
      {
        name: 'modes',
        image,
        command: ['sh', '-c', 'cp -L /mnt/slurm/* /etc/slurm/ && chmod 600 /etc/slurm/*'],
        volumeMounts: [
          { name: 'mounted', mountPath: '/mnt/slurm' },
          { name: 'slurm-etc', mountPath: '/etc/slurm' },
        ],
      },
    ],
    containers: [
      {
        name: 'slurmdbd',
        image,
        workingDir: '/tmp',
        ports: [{ name: 'slurmdbd', containerPort: 6819, protocol: 'TCP' }],
        readinessProbe: { tcpSocket: { port: 6819 }, periodSeconds: 2 },
        volumeMounts: [
          { name: 'slurm-etc', mountPath: '/etc/slurm' },
          { name: 'run', mountPath: '/run' },
        ],
      },
    ],
    volumes: [
      {
        name: 'mounted',
        projected: { defaultMode: 0o600, sources: [{ secret: { name: secret } }, ...keyFiles] },
      },
      memory('slurm-etc'),
      memory('run'),
    ],
  };
}

function slurmdbd(version: SlurmVersion, keys: Keys): Manifest[] {
  const selector = selectorOf('slurmdbd', 'slurm');
  const labels = { ...selector, 'app.kubernetes.io/component': 'accounting' };
  return [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'slurm-accounting', labels },
      owner: 'Accounting',
      stringData: { 'slurmdbd.conf': slurmdbdConf('slurm-accounting-0', 'mariadb', keys.database) },
    },
    serviceOf('Accounting', 'slurm-accounting', labels, { name: 'slurmdbd', port: 6819 }),
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'slurm-accounting', labels },
      owner: 'Accounting',
      spec: {
        replicas: 1,
        revisionHistoryLimit: 0,
        podManagementPolicy: 'Parallel',
        serviceName: 'slurm-accounting',
        selector: { matchLabels: selector },
        template: {
          metadata: {
            labels,
            annotations: {
              'kubectl.kubernetes.io/default-container': 'slurmdbd',
              ...digests,
              'slinky.slurm.net/slurmdbd-conf-hash': '99cc',
            },
          },
          spec: slurmdbdPod(version, 'slurm-accounting'),
        },
      },
    },
  ];
}

/** Shared by all NodeSets of a Controller. */
const forWorkers: readonly Manifest[] = [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: 'slurm-workers-slurm',
      labels: { 'app.kubernetes.io/name': 'slurmd', 'slinky.slurm.net/cluster': 'slurm' },
    },
    owner: 'shared by NodeSets',
    spec: {
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      selector: { 'app.kubernetes.io/name': 'slurmd', 'slinky.slurm.net/cluster': 'slurm' },
      ports: [{ name: 'slurmd', port: 6818, protocol: 'TCP', targetPort: 'slurmd' }],
    },
  },
  {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'slurm-workers-pdb-slurm', labels: { 'slinky.slurm.net/cluster': 'slurm' } },
    owner: 'shared by NodeSets',
    spec: {
      maxUnavailable: 0,
      selector: {
        matchLabels: { 'nodeset.slinky.slurm.net/pod-protect': 'true', 'slinky.slurm.net/cluster': 'slurm' },
      },
    },
  },
];

/** In the order in which they are created; workers come after the daemons run. `users`: the `extraConf` of the Controller. */
export function madeByUpstream(
  user: UserClass,
  version: SlurmVersion,
  keys: Keys,
  users: string = extraConf,
): Manifest[] {
  return [
    ...(user.slurmdbd === 'here' ? slurmdbd(version, keys) : []),
    ...slurmctld(user, version, users),
    ...slurmrestd(user, version),
    ...forWorkers,
  ];
}
