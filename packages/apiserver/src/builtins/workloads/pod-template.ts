/** What all workloads check about their selector and pod template. */
import type { IPodTemplateSpec } from 'kubernetes-models/v1/PodTemplateSpec';
import type { FieldFault } from '../../errors.ts';
import { invalidValue, notSupported, required } from '../fault.ts';
import { type LabelSelectorObject, selectorMatches, validateLabelSelector } from '../label-selector-rules.ts';
import { validatePodSpec } from '../pod/validate-pod-spec.ts';

export const NOT_NEGATIVE = 'must be greater than or equal to 0';

export function validateSelectorAndTemplate(
  spec: { readonly selector?: LabelSelectorObject; readonly template?: IPodTemplateSpec },
  restartPolicies: readonly string[],
): FieldFault[] {
  const { selector, template } = spec;
  const faults: FieldFault[] = [];
  if (!selector) faults.push(required('spec.selector'));
  else {
    faults.push(...validateLabelSelector(selector, 'spec.selector'));
    if (!selector.matchLabels && !selector.matchExpressions?.length)
      faults.push(invalidValue('spec.selector', selector, 'empty selector is invalid for deployment'));
    else if (!selectorMatches(selector, template?.metadata?.labels))
      faults.push(
        invalidValue(
          'spec.template.metadata.labels',
          template?.metadata?.labels ?? null,
          '`selector` does not match template `labels`',
        ),
      );
  }
  faults.push(...validateTemplate(template, restartPolicies));
  return faults;
}

export function validateTemplate(
  template: IPodTemplateSpec | undefined,
  restartPolicies: readonly string[],
): FieldFault[] {
  const spec = template?.spec;
  if (!spec) return [];
  const faults = validatePodSpec(spec, 'spec.template.spec');
  if (spec.restartPolicy && !restartPolicies.includes(spec.restartPolicy))
    faults.push(notSupported('spec.template.spec.restartPolicy', spec.restartPolicy, restartPolicies));
  if (spec.activeDeadlineSeconds !== undefined && restartPolicies.includes('Always'))
    faults.push({
      reason: 'FieldValueForbidden',
      field: 'spec.template.spec.activeDeadlineSeconds',
      message: 'Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported',
    });
  return faults;
}

export function notNegative(value: number | undefined, path: string): FieldFault[] {
  return value !== undefined && value < 0 ? [invalidValue(path, value, NOT_NEGATIVE)] : [];
}
