/** Whether every daemon has the newest keys. Pure. */
import { conditionType } from '@slurm-operator/api';
import type { Condition } from '../framework/status/conditions.ts';

/** A pod, and the digests of the keys that it was started with or notified of. */
export interface Keyholder {
  readonly name: string;
  readonly annotations: Readonly<Record<string, string | undefined>>;
}

/** `wanted`: annotation → digest. A pod that lacks one of them counts as having an old key. */
export function keysCondition(
  holders: readonly Keyholder[],
  wanted: Readonly<Record<string, string>>,
): Condition {
  const type = conditionType.keysCurrent;
  const behind = holders.filter(({ annotations }) =>
    Object.entries(wanted).some(([key, digest]) => annotations[key] !== digest),
  );
  if (behind.length === 0)
    return {
      type,
      status: 'True',
      reason: 'Applied',
      message: 'Every daemon uses the newest keys.',
    };
  const names = behind.slice(0, 3).map(({ name }) => name);
  const more = behind.length > names.length ? ` and ${behind.length - names.length} more` : '';
  return {
    type,
    status: 'False',
    reason: 'KeyRotation',
    message: `${behind.length} of ${holders.length} daemons still use an old key: ${names.join(', ')}${more}.`,
  };
}
