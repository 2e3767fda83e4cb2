/** Counts in the status of a workload that cannot be. */
import type { FieldFault } from '../../../api/errors.ts';
import { invalidValue } from '../../../api/fault.ts';
import type { KubeObject } from '../../../api/types.ts';

const NOT_NEGATIVE = 'must be greater than or equal to 0';

export interface CountRules {
  /** Fields of status that count something, in the order in which they are looked at. */
  readonly counts: readonly string[];
  readonly others?: readonly string[];
  /** Those that cannot be more than all replicas. */
  readonly bounded?: readonly string[];
  /** What messages call the ready ones, which available ones cannot exceed. */
  readonly ready?: string;
}

export function countFaults(object: KubeObject, rules: CountRules): FieldFault[] {
  const status = (object['status'] ?? {}) as Record<string, number | undefined>;
  const faults: FieldFault[] = [];
  for (const field of [...rules.counts, ...(rules.others ?? [])]) {
    const value = status[field] ?? 0;
    if (value < 0) faults.push(invalidValue(`status.${field}`, value, NOT_NEGATIVE));
  }
  const count = (field: string) => status[field] ?? 0;
  for (const field of rules.bounded ?? [])
    if (count(field) > count('replicas'))
      faults.push(invalidValue(`status.${field}`, count(field), 'cannot be greater than status.replicas'));
  if (rules.ready !== undefined && count('availableReplicas') > count('readyReplicas'))
    faults.push(
      invalidValue(
        'status.availableReplicas',
        count('availableReplicas'),
        `cannot be greater than ${rules.ready}`,
      ),
    );
  return faults;
}
