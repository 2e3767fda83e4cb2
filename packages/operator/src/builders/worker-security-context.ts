/** What slurmd may do: the same in a worker and in the trial of a configuration, which would otherwise find out something else. */
import type { NodeSet } from '@slurm-operator/api';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { Read } from './read.ts';

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
