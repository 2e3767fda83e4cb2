/** The side container that makes slurmctld read its configuration again when the files changed. */
import type { Controller } from '@slurm-operator/api';
import type { IContainer } from 'kubernetes-models/v1/Container';
import { mergeContainer } from '../merge-template.ts';
import type { Read } from '../read.ts';
import type { Surroundings } from '../surroundings.ts';
import { versionFile } from './config-map.ts';

/** Says, on a slurmctld pod, which configuration it may read: one that was tried. */
export const configSeenAnnotation = 'controller.slinky.slurm.net/config-seen';
/** The same, as a file beside the configuration. */
export const approvedFile = '.config-approved';

/**
 * slurmctld reads its files again when the configuration that is there is the one that the operator has tried. Both
 * names come in the volume that holds the files, which the kubelet swaps as a whole: it cannot be told too early.
 * A failed attempt is repeated until it succeeds.
 */
const script = `set -u
version() { cat /etc/slurm/${versionFile} 2>/dev/null; }
applied=$(version)
trap 'exit 0' TERM INT
while :; do
  sleep 1 & wait $!
  now=$(version)
  if [ -n "$now" ] && [ "$now" != "$applied" ] && [ "$now" = "$(cat /etc/slurm/${approvedFile} 2>/dev/null)" ] && scontrol reconfigure; then
    applied=$now
    echo "slurmctld has read configuration $now"
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
