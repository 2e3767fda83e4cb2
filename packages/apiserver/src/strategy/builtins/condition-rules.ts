/** What is wrong with conditions of the common form (type, status, reason, message). */

import { qualifiedName } from '@slurm-operator/kubernetes-values';
import type { FieldFault } from '../../api/errors.ts';
import { duplicate, invalidValue, notSupported, required, tooLong } from '../../api/fault.ts';

const STATUSES = ['False', 'True', 'Unknown'];
const MAXIMUM_REASON = 1024;
const MAXIMUM_MESSAGE = 32_768;
const REASON = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const REASON_RULE = `a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '${REASON}')`;

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly observedGeneration?: number;
}

export function conditionFaults(conditions: readonly Condition[], path: string): FieldFault[] {
  const seen = new Set<string>();
  return conditions.flatMap((condition, index) => {
    const at = `${path}[${index}]`;
    const { type = '', status = '', reason = '', message = '', observedGeneration = 0 } = condition;
    const faults: FieldFault[] = seen.has(type) ? [duplicate(`${at}.type`, type)] : [];
    seen.add(type);
    faults.push(...qualifiedName(type).map((text) => invalidValue(`${at}.type`, type, text)));
    if (!STATUSES.includes(status)) faults.push(notSupported(`${at}.status`, status, STATUSES));
    if (observedGeneration < 0)
      faults.push(
        invalidValue(`${at}.observedGeneration`, observedGeneration, 'must be greater than or equal to zero'),
      );
    if (!condition.lastTransitionTime) faults.push(required(`${at}.lastTransitionTime`, 'must be set'));
    if (reason === '') faults.push(required(`${at}.reason`, 'must be set'));
    else {
      if (!new RegExp(`^${REASON}$`).test(reason))
        faults.push(invalidValue(`${at}.reason`, reason, REASON_RULE));
      if (Buffer.byteLength(reason) > MAXIMUM_REASON) faults.push(tooLong(`${at}.reason`, MAXIMUM_REASON));
    }
    if (Buffer.byteLength(message) > MAXIMUM_MESSAGE) faults.push(tooLong(`${at}.message`, MAXIMUM_MESSAGE));
    return faults;
  });
}
