/** The side container that makes slurmctld read its configuration again when the files changed. */
import type { Controller } from '@slurm-operator/api';
import type { IContainer } from 'kubernetes-models/v1/Container';
import { mergeContainer } from '../../../objects/merge-template.ts';
import type { Read } from '../../../objects/read.ts';
import type { Surroundings } from '../../../objects/surroundings.ts';
import { versionFile } from '../../../slurm-config/render/config-map.ts';

/** Says, on a slurmctld pod, which configuration it may read: one that was tried. */
export const configSeenAnnotation = 'controller.slinky.slurm.net/config-seen';
/** The same, as a file beside the configuration. */
export const approvedFile = '.config-approved';

/** Which configuration the workers were told of last: it stays with slurmctld's state, and so outlives its pod. */
const toldFile = '.config-told';
/** As long as a worker may take from reading its files to joining Slurm. */
const joinSeconds = 60;

/**
 * slurmctld reads its files again, and passes them on to the workers, when the configuration that is there is the one that the
 * operator has tried. Both names come in the volume that holds the files, which the kubelet swaps as a whole: it cannot be told too
 * early. A failed attempt is repeated until it succeeds.
 *
 * A slurmctld that starts reads its files and tells nobody: what came with a new pod is told to the workers of the one before. Only
 * a slurmctld without a past has nobody to tell. And a worker that read its files before they changed and joined after that is told
 * by nobody, and Slurm does not show which one that is: everybody is told once more when such a worker has joined.
 */
const script = (state: string): string => `set -u
state=${state}
version() { cat /etc/slurm/${versionFile} 2>/dev/null; }
if [ -e "$state/clustername" ]; then applied=$(cat "$state/${toldFile}" 2>/dev/null); else applied=$(version); fi
again=
trap 'exit 0' TERM INT
while :; do
  sleep 1 & wait $!
  now=$(version)
  if [ -z "$now" ] || [ "$now" != "$(cat /etc/slurm/${approvedFile} 2>/dev/null)" ]; then continue; fi
  if [ "$now" != "$applied" ] && scontrol reconfigure; then
    applied=$now
    again=$((SECONDS + ${joinSeconds}))
    echo "$now" >"$state/${toldFile}"
    echo "slurmctld has read configuration $now"
  elif [ "$now" = "$applied" ] && [ -n "$again" ] && [ "$SECONDS" -ge "$again" ] && scontrol reconfigure; then
    again=
    echo "told once more of configuration $now, for workers that joined meanwhile"
  fi
done`;

export interface ReconfigureInput {
  readonly controller: Read<Controller>;
  readonly around: Surroundings;
  /** Where slurmctld keeps its state. */
  readonly state: { readonly name: string; readonly mountPath: string };
}

export function reconfigureContainer({ controller, around, state }: ReconfigureInput): IContainer {
  const base: IContainer = {
    name: 'reconfigure',
    image: controller.spec.slurmctld?.image ?? around.images.slurmctld,
    command: ['/bin/bash', '-c', script(state.mountPath)],
    securityContext: {
      runAsNonRoot: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'slurm-etc', mountPath: '/etc/slurm', readOnly: true },
      // scontrol proves who it is through the socket that slurmctld opens here.
      { name: 'slurm-authsocket', mountPath: '/run/slurmctld' },
      state,
    ],
  };
  return mergeContainer(base, controller.spec.reconfigure as Partial<IContainer> | undefined);
}
