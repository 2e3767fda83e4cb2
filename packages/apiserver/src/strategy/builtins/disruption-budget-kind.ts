/** Disruption budgets: rules of their spec, and of the status that a controller writes. */

import { PERCENT_SYNTAX_MESSAGE, parsePercent } from '@slurm-operator/kubernetes-values';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import type { FieldFault } from '../../api/errors.ts';
import { invalidValue, notSupported } from '../../api/fault.ts';
import { typed } from '../../api/typed.ts';
import { conditionFaults } from './condition-rules.ts';
import type { BuiltinHooks } from './define.ts';
import { validateLabelSelector } from './label-selector-rules.ts';

export const disruptionBudgetHooks: BuiltinHooks = {
  validate(object) {
    const { spec } = typed<IPodDisruptionBudget>(object);
    if (!spec) return [];
    const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = spec;
    const faults: FieldFault[] = [];
    if (minAvailable !== undefined && maxUnavailable !== undefined)
      faults.push(
        invalidValue(
          'spec',
          {
            MinAvailable: minAvailable,
            Selector: selector ?? null,
            MaxUnavailable: maxUnavailable,
            UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy ?? null,
          },
          'minAvailable and maxUnavailable cannot be both set',
        ),
      );
    faults.push(...amountFaults(minAvailable, 'spec.minAvailable'));
    faults.push(...amountFaults(maxUnavailable, 'spec.maxUnavailable'));
    faults.push(...validateLabelSelector(selector, 'spec.selector'));
    const policies = ['AlwaysAllow', 'IfHealthyBudget'];
    if (unhealthyPodEvictionPolicy !== undefined && !policies.includes(unhealthyPodEvictionPolicy))
      faults.push(notSupported('spec.unhealthyPodEvictionPolicy', unhealthyPodEvictionPolicy, policies));
    return faults;
  },
};

function amountFaults(value: number | string | undefined, path: string): FieldFault[] {
  if (typeof value === 'number' && value < 0)
    return [invalidValue(path, value, 'must be greater than or equal to 0')];
  const percent = typeof value === 'string' ? parsePercent(value) : 0;
  if (percent === undefined) return [invalidValue(path, value, PERCENT_SYNTAX_MESSAGE)];
  if (percent > 100) return [invalidValue(path, value, 'must not be greater than 100%')];
  return [];
}

export const disruptionBudgetStatusHooks: Pick<BuiltinHooks, 'validate'> = {
  validate(object) {
    const { status } = typed<IPodDisruptionBudget>(object);
    if (!status) return [];
    return [
      ...conditionFaults(status.conditions ?? [], 'status.conditions'),
      ...(['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const).flatMap(
        (field) =>
          (status[field] ?? 0) < 0
            ? [invalidValue(`status.${field}`, status[field], 'must be greater than or equal to 0')]
            : [],
      ),
    ];
  },
};
