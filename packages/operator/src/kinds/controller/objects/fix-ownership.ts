/** The init container that gives slurmctld its state volume, where the volume ignores fsGroup. */
import { type Controller, uid } from '@slurm-operator/api';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { OperatorDefaults } from '../../../objects/operator-defaults.ts';
import type { Read } from '../../../objects/read.ts';

export const fixOwnershipName = 'fix-ownership';

/**
 * A volume that already belongs to slurm is not walked. No step takes anything away from slurm, so that the pods of a
 * standby may do this at the same time on the volume that they share.
 */
const script = `owner=${uid.slurm}:${uid.slurm}
[ "$(stat -c %u:%g "$1")" = "$owner" ] || exec chown --recursive --no-dereference "$owner" "$1"`;

export interface FixOwnershipInput {
  readonly controller: Read<Controller>;
  readonly defaults: OperatorDefaults;
  readonly state: { readonly name: string; readonly mountPath: string };
}

/** None unless the user asks for it: it runs as root, which a restricted namespace does not allow. */
export function fixOwnershipContainer({ controller, defaults, state }: FixOwnershipInput): IContainer[] {
  const { persistence, slurmctld } = controller.spec;
  if (!persistence.enabled || persistence.fixOwnership !== true) return [];
  return [
    {
      name: fixOwnershipName,
      image: slurmctld?.image ?? defaults.images.slurmctld,
      ...(slurmctld?.imagePullPolicy === undefined ? {} : { imagePullPolicy: slurmctld.imagePullPolicy }),
      command: ['/bin/sh', '-c', script, 'fix-ownership', state.mountPath],
      terminationMessagePolicy: 'FallbackToLogsOnError',
      securityContext: {
        runAsNonRoot: false,
        runAsUser: 0,
        runAsGroup: 0,
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        // DAC_OVERRIDE: directories of another user that only that user may read are walked, too.
        capabilities: { drop: ['ALL'], add: ['CHOWN', 'DAC_OVERRIDE'] },
      },
      volumeMounts: [state],
    },
  ];
}
