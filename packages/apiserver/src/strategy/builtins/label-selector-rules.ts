/** What is wrong with a label selector inside an object. */

import { type LabelSelector, labelValue, qualifiedName } from '@slurm-operator/kubernetes-values';
import type { FieldFault } from '../../api/errors.ts';
import { forbiddenField, invalidValue, required } from '../../api/fault.ts';

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

export function validateLabelSelector(selector: LabelSelector | undefined, path: string): FieldFault[] {
  const faults: FieldFault[] = [];
  for (const [key, value] of Object.entries(selector?.matchLabels ?? {})) {
    for (const text of qualifiedName(key)) faults.push(invalidValue(`${path}.matchLabels`, key, text));
    for (const text of labelValue(value)) faults.push(invalidValue(`${path}.matchLabels`, value, text));
  }
  for (const [index, { key, operator, values = [] }] of (selector?.matchExpressions ?? []).entries()) {
    const at = `${path}.matchExpressions[${index}]`;
    if (!OPERATORS.includes(operator))
      faults.push(invalidValue(`${at}.operator`, operator, 'not a valid selector operator'));
    if ((operator === 'In' || operator === 'NotIn') && values.length === 0)
      faults.push(required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0)
      faults.push(
        forbiddenField(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      );
    for (const text of qualifiedName(key)) faults.push(invalidValue(`${at}.key`, key, text));
    for (const [place, value] of values.entries())
      for (const text of labelValue(value)) faults.push(invalidValue(`${at}.values[${place}]`, value, text));
  }
  return faults;
}
