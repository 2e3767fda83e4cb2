/** What all workloads check about their selector and pod template. */

import { type LabelSelector, selectorMatches } from '@slurm-operator/kubernetes-values';
import type { IPodTemplateSpec } from 'kubernetes-models/v1/PodTemplateSpec';
import type { FieldFault } from '../../../api/errors.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../../../api/fault.ts';
import { equal } from '../../../api/json.ts';
import type { RequestContext } from '../../../resource/request-context.ts';
import { annotationFaults, labelFaults } from '../../metadata/validate-metadata.ts';
import { validateLabelSelector } from '../label-selector-rules.ts';
import { warnOfPod } from '../pod/pod-warnings.ts';
import { validatePodSpec } from '../pod/validate-pod-spec.ts';

export const NOT_NEGATIVE = 'must be greater than or equal to 0';

/** Whose template may have no deadline. For Deployments the message names their ReplicaSets. */
const deadlineOwners: Readonly<Record<string, string>> = {
  statefulset: 'StatefulSet',
  daemonset: 'DaemonSet',
};

/** `kind` is the word that messages use, which is not always the kind. */
export function validateSelectorAndTemplate(
  spec: { readonly selector?: LabelSelector; readonly template?: IPodTemplateSpec },
  restartPolicies: readonly string[],
  kind = 'deployment',
): FieldFault[] {
  const { selector, template } = spec;
  const faults: FieldFault[] = [];
  const isEmpty = selector !== undefined && !selector.matchLabels && !selector.matchExpressions?.length;
  if (!selector) faults.push(required('spec.selector'));
  else {
    faults.push(...validateLabelSelector(selector, 'spec.selector'));
    if (isEmpty)
      faults.push(invalidValue('spec.selector', selector, `empty selector is invalid for ${kind}`));
  }
  // No selector selects nothing, an empty one everything.
  if (!isEmpty && !selectorMatches(selector, template?.metadata?.labels))
    faults.push(
      invalidValue(
        'spec.template.metadata.labels',
        template?.metadata?.labels ?? null,
        '`selector` does not match template `labels`',
      ),
    );
  faults.push(...validateTemplate(template, restartPolicies, kind));
  return faults;
}

/** Warns of what a template says, whenever the spec that has it is new or changed. */
export function warnOfTemplate(
  context: RequestContext,
  spec: { readonly template?: IPodTemplateSpec } | undefined,
  old: { readonly template?: IPodTemplateSpec } | undefined,
): void {
  if (old === undefined || !equal(spec, old)) warnOfPod(context, 'spec.template', spec?.template);
}

export function validateTemplate(
  template: IPodTemplateSpec | undefined,
  restartPolicies: readonly string[],
  kind = '',
): FieldFault[] {
  const spec = template?.spec;
  if (!spec) return [required('spec.template.spec.containers')];
  const faults = [
    ...labelFaults(template.metadata?.labels ?? {}, 'spec.template.labels'),
    ...annotationFaults(template.metadata?.annotations ?? {}, 'spec.template.annotations'),
    ...validatePodSpec(spec, 'spec.template.spec'),
  ];
  if (spec.ephemeralContainers?.length)
    faults.push(
      forbiddenField(
        'spec.template.spec.ephemeralContainers',
        'ephemeral containers not allowed in pod template',
      ),
    );
  if (spec.restartPolicy && !restartPolicies.includes(spec.restartPolicy))
    faults.push(notSupported('spec.template.spec.restartPolicy', spec.restartPolicy, restartPolicies));
  if (spec.activeDeadlineSeconds !== undefined && restartPolicies.includes('Always'))
    faults.push({
      reason: 'FieldValueForbidden',
      field: 'spec.template.spec.activeDeadlineSeconds',
      message: `Forbidden: activeDeadlineSeconds in ${deadlineOwners[kind] ?? 'ReplicaSet'} is not Supported`,
    });
  return faults;
}

export function notNegative(value: number | undefined, path: string): FieldFault[] {
  return value !== undefined && value < 0 ? [invalidValue(path, value, NOT_NEGATIVE)] : [];
}
