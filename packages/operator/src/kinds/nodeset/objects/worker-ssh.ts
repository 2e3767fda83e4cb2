/** ssh into workers: for users who have a job there, as pam_slurm_adopt decides. */
import { type NodeSet, port, resourceName } from '@slurm-operator/api';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import { objectLabels } from '../../../objects/object-meta.ts';

export interface WorkerSsh {
  readonly volumes: NonNullable<IPodSpec['volumes']>;
  readonly mounts: NonNullable<IContainer['volumeMounts']>;
  readonly ports: NonNullable<IContainer['ports']>;
}

export function workerSsh(nodeSet: NodeSet): WorkerSsh {
  const { ssh } = nodeSet.spec;
  if (!ssh?.enabled) return { volumes: [], mounts: [], ports: [] };
  return {
    volumes: [
      {
        name: 'ssh-config',
        configMap: { name: resourceName.sshConfig(nodeSet.metadata.name), defaultMode: 0o600 },
      },
      {
        name: 'sssd-conf',
        secret: {
          secretName: ssh.sssdConfRef.name,
          defaultMode: 0o600,
          items: [{ key: ssh.sssdConfRef.key, path: 'sssd.conf' }],
        },
      },
    ],
    mounts: [
      { name: 'ssh-config', mountPath: '/etc/ssh/sshd_config', subPath: 'sshd_config', readOnly: true },
      { name: 'sssd-conf', mountPath: '/etc/sssd/sssd.conf', subPath: 'sssd.conf', readOnly: true },
    ],
    ports: [{ name: 'ssh', containerPort: port.ssh }],
  };
}

/** Undefined where ssh is off. */
export function workerSshConfig(nodeSet: NodeSet) {
  const { ssh, controllerRef } = nodeSet.spec;
  if (!ssh?.enabled) return undefined;
  const lines = [
    'Include /etc/ssh/sshd_config.d/*.conf',
    'UsePAM yes',
    'Subsystem sftp internal-sftp',
    'AuthenticationMethods publickey password',
    ...(ssh.extraSshdConfig === undefined ? [] : ['', '### EXTRA CONFIG ###', ssh.extraSshdConfig]),
  ];
  const { name, namespace } = nodeSet.metadata;
  return {
    apiVersion: 'v1' as const,
    kind: 'ConfigMap' as const,
    metadata: {
      name: resourceName.sshConfig(name),
      namespace,
      labels: objectLabels('worker', name, controllerRef.name),
    },
    data: { sshd_config: `${lines.join('\n')}\n` },
  };
}
