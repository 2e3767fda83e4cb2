/** What a write of a pod's status may not do. */

import { qualifiedName } from '@slurm-operator/kubernetes-values';
import type { IPod } from 'kubernetes-models/v1/Pod';
import type { FieldFault } from '../../../api/errors.ts';
import { forbiddenField, invalidValue } from '../../../api/fault.ts';

const RESTARTED = 'may not be transitioned to non-terminated state';

type Status = NonNullable<IPod['status']>;

export function validatePodStatus(pod: IPod, old: IPod): FieldFault[] {
  const status = pod.status ?? {};
  const before = old.status ?? {};
  const faults: FieldFault[] = [];
  if (before.qosClass !== undefined && status.qosClass !== before.qosClass)
    faults.push(invalidValue('status.qosClass', status.qosClass, 'field is immutable'));
  for (const [index, condition] of (status.conditions ?? []).entries())
    for (const text of qualifiedName(condition.type))
      faults.push(invalidValue(`status.conditions[${index}].Type`, condition.type, text));
  const policy = pod.spec?.restartPolicy;
  if (policy === 'Never' || policy === 'OnFailure')
    faults.push(...restarts(status, before, policy, 'containerStatuses'));
  if (policy === 'Never') faults.push(...restarts(status, before, policy, 'initContainerStatuses'));
  return faults;
}

/** A container that ended for good does not run again. */
function restarts(
  status: Status,
  before: Status,
  policy: 'Never' | 'OnFailure',
  list: 'containerStatuses' | 'initContainerStatuses',
): FieldFault[] {
  return (status[list] ?? []).flatMap((container, index) => {
    const ended = before[list]?.find(({ name }) => name === container.name)?.state?.terminated;
    if (ended === undefined || container.state?.terminated !== undefined) return [];
    // One that failed may be started again under this policy.
    if (policy === 'OnFailure' && ended.exitCode !== 0) return [];
    return [forbiddenField(`status.${list}[${index}].state`, RESTARTED)];
  });
}
