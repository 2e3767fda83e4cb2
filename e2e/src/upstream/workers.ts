/** Workers as upstream's operator creates them, and the revision that it recorded of their NodeSet. */
import { imageTag, type SlurmVersion } from '@slurm-operator/images';
import { slurmdContainer } from './custom-resources.ts';
import { logfileContainer, probesOf } from './daemons.ts';
import {
  chartLabels,
  elsewhereOf,
  type Manifest,
  objectName,
  selectorOf,
  type UserClass,
  workerStem,
} from './user-class.ts';

const nodeSetName = objectName['NodeSet'] ?? '';
export const revisionHash = '7c9d5f6b84';

export function worker(user: UserClass, version: SlurmVersion, index: number): Manifest {
  const image = imageTag('slurmd', version);
  const name = `${nodeSetName}-${index}`;
  const hostname = `${workerStem}-${index}`;
  const server =
    user.slurmctld === 'elsewhere' ? `slurmctld.${elsewhereOf(user)}` : `slurm-controller.${user.name}`;
  const probe = probesOf(version, 'slurmd');
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      labels: {
        ...chartLabels,
        ...selectorOf('slurmd', nodeSetName),
        'app.kubernetes.io/component': 'worker',
        'slinky.slurm.net/cluster': 'slurm',
        'controller.kubernetes.io/hash': revisionHash,
        'nodeset.slinky.slurm.net/scaling-mode': 'StatefulSet',
        'nodeset.slinky.slurm.net/pod-name': name,
        'nodeset.slinky.slurm.net/pod-index': String(index),
        'nodeset.slinky.slurm.net/pod-hostname': hostname,
      },
      annotations: {
        'kubectl.kubernetes.io/default-container': 'slurmd',
        'slinky.slurm.net/sshd-conf-hash': 'e3b0',
        'slinky.slurm.net/sssd-conf-hash': 'e3b0',
        'topology.slinky.slurm.net/spec': '',
      },
    },
    owner: 'NodeSet',
    spec: {
      hostname,
      subdomain: 'slurm-workers-slurm',
      enableServiceLinks: false,
      automountServiceAccountToken: false,
      dnsConfig: { searches: [`slurm-workers-slurm.${user.name}.svc.cluster.local`] },
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            {
              topologyKey: 'kubernetes.io/hostname',
              labelSelector: {
                matchExpressions: [{ key: 'app.kubernetes.io/name', operator: 'In', values: ['slurmd'] }],
              },
            },
          ],
        },
      },
      tolerations: [{ key: 'nodeset.slinky.slurm.net/worker', operator: 'Equal', effect: 'NoExecute' }],
      initContainers: [logfileContainer(image, '/var/log/slurm/slurmd.log')],
      containers: [
        {
          name: 'slurmd',
          ...slurmdContainer(version),
          args: ['-Z', '--conf-server', `${server}:6817`, '--conf', `'Features=${workerStem} Weight=5'`],
          env: [
            { name: 'POD_CPUS', value: '0' },
            { name: 'POD_MEMORY', value: '0' },
          ],
          ports: [{ name: 'slurmd', containerPort: 6818, protocol: 'TCP' }],
          startupProbe: probe('/livez'),
          livenessProbe: probe('/livez'),
          readinessProbe: probe('/readyz'),
          securityContext: {
            privileged: true,
            capabilities: { add: ['BPF', 'NET_ADMIN', 'SYS_ADMIN', 'SYS_NICE'] },
          },
          lifecycle: {
            preStop: {
              exec: {
                command: [
                  '/usr/bin/sh',
                  '-c',
                  "scontrol update nodename=$(hostname) state=down reason='slurm-operator: Pod is terminating';",
                ],
              },
            },
          },
          volumeMounts: [
            { name: 'slurm-etc', mountPath: '/etc/slurm', readOnly: true },
            { name: 'slurm-logfile', mountPath: '/var/log/slurm' },
          ],
        },
      ],
      volumes: [
        {
          name: 'slurm-etc',
          projected: {
            defaultMode: 0o600,
            sources: [
              { secret: { name: 'slurm-auth-slurm', items: [{ key: 'slurm.key', path: 'slurm.key' }] } },
            ],
          },
        },
        { name: 'slurm-logfile', emptyDir: { medium: 'Memory' } },
      ],
    },
  };
}

/** `spec` is the NodeSet's. Go writes what is empty as null or as an empty text. */
export function revisionOf(spec: Readonly<Record<string, unknown>>): Manifest {
  const replaced = (field: string) => ({ ...(spec[field] as object), $patch: 'replace' });
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${nodeSetName}-${revisionHash}`,
      labels: {
        ...chartLabels,
        ...selectorOf('slurmd', nodeSetName),
        'controller.kubernetes.io/hash': revisionHash,
      },
    },
    owner: 'NodeSet',
    revision: 1,
    data: {
      spec: {
        template: replaced('template'),
        ordinalPadding: 0,
        slurmd: { ...replaced('slurmd'), name: '', resources: {} },
        extraConf: spec['extraConf'],
        logfile: { ...replaced('logfile'), name: '' },
      },
    },
  };
}
