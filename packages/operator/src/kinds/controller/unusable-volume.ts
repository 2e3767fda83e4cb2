/** A slurmctld that cannot use its state volume, and the field that helps. Pure. */

import type { Problem } from '../../framework/status/conditions.ts';
import { fixOwnershipName } from './objects/fix-ownership.ts';
import type { ObservedController } from './observe.ts';

/** What slurmctld and the init container say before they exit. */
const slurmctldSays = /Incorrect permissions on state save loc/;
const chownSays = /chown: .*(Operation not permitted|Permission denied|Read-only file system)/;

export function unusableVolume({
  controller,
  pods,
}: Pick<ObservedController, 'controller' | 'pods'>): Problem[] {
  if (pods.some(({ ready }) => ready)) return [];
  const { namespace } = controller.metadata;
  const isFixed = controller.spec.persistence.fixOwnership === true;
  for (const { name, lastLogLine = '' } of pods) {
    if (slurmctldSays.test(lastLogLine))
      return [
        {
          reason: 'CrashLooping',
          message: isFixed
            ? `slurmctld in pod ${name} exits: "${lastLogLine}", although persistence.fixOwnership is true. Check the access mode and mount options of the volume: slurmctld must be able to write to it.`
            : `slurmctld in pod ${name} exits: "${lastLogLine}". The volume ignores fsGroup, so it does not belong to the slurm user: set spec.persistence.fixOwnership to true (chart: controller.persistence.fixOwnership).`,
        },
      ];
    if (isFixed && chownSays.test(lastLogLine))
      return [
        {
          reason: 'CrashLooping',
          message: `container ${fixOwnershipName} in pod ${name} exits: "${lastLogLine}". The storage does not allow root to change owners (NFS: root_squash): change the owner of the directory to user and group 401 on the storage itself. For details run "kubectl logs ${name} -n ${namespace} --container ${fixOwnershipName}".`,
        },
      ];
  }
  return [];
}
