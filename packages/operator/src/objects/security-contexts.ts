/** The rights of slurmctld and slurmd, the same in their own pods and in the trial of a configuration. */
import { type NodeSet, uid } from '@slurm-operator/api';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { Read } from './read.ts';

export const slurmctldSecurityContext = {
  runAsNonRoot: true,
  runAsUser: uid.slurm,
  runAsGroup: uid.slurm,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
};

const privileged = {
  privileged: true,
  capabilities: { add: ['BPF', 'NET_ADMIN', 'SYS_ADMIN', 'SYS_NICE'] },
};

/** The least with which slurmd runs and cancels jobs of every user; without cgroups, so CgroupPlugin=disabled belongs to it. */
const unprivileged = {
  privileged: false,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'], add: ['CHOWN', 'KILL', 'SETGID', 'SETUID'] },
};

/** Before the user's part of the container is merged over it. */
export const workerSecurityContext = ({ spec }: Read<NodeSet>): NonNullable<IContainer['securityContext']> =>
  spec.slurmd?.securityContext?.privileged === false ? unprivileged : privileged;
