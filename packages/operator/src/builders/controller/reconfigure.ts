/** The side container that makes slurmctld read its configuration again when the files changed. */
import type { Controller } from '@slurm-operator/api';
import type { IContainer } from 'kubernetes-models/v1/Container';
import { mergeContainer } from '../merge-template.ts';
import type { Read } from '../read.ts';
import type { Surroundings } from '../surroundings.ts';

/**
 * The kubelet swaps all files of a volume at once, by one link. The side container sees them as slurmctld does, so
 * there is no moment at which slurmctld could be told too early. A failed attempt is repeated until it succeeds.
 */
const script = `set -u
state() { cat /etc/slurm/* 2>/dev/null | sha256sum; }
applied=$(state)
trap 'exit 0' TERM INT
while :; do
  sleep 1 & wait $!
  now=$(state)
  if [ "$now" != "$applied" ] && scontrol reconfigure; then
    applied=$now
    echo "slurmctld has read the configuration again"
  fi
done`;

export function reconfigureContainer(controller: Read<Controller>, around: Surroundings): IContainer {
  const base: IContainer = {
    name: 'reconfigure',
    image: controller.spec.slurmctld?.image ?? around.images.slurmctld,
    command: ['/bin/bash', '-c', script],
    securityContext: {
      runAsNonRoot: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'slurm-etc', mountPath: '/etc/slurm', readOnly: true },
      // scontrol proves who it is through the socket that slurmctld opens here.
      { name: 'slurm-authsocket', mountPath: '/run/slurmctld' },
    ],
  };
  return mergeContainer(base, controller.spec.reconfigure as Partial<IContainer> | undefined);
}
