/** What is special about Deployments. */

import { PERCENT_SYNTAX_MESSAGE, parsePercent } from '@slurm-operator/kubernetes-values';
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { FieldFault } from '../../../api/errors.ts';
import { invalidValue, notSupported } from '../../../api/fault.ts';
import { equal } from '../../../api/json.ts';
import { typed } from '../../../api/typed.ts';
import type { KubeObject } from '../../../api/types.ts';
import type { ResourceHooks } from '../../../resource/resource-definition.ts';
import { defaultPodSpec } from '../pod/default-pod-spec.ts';
import { countFaults } from './count-faults.ts';
import { notNegative, validateSelectorAndTemplate, warnOfTemplate } from './pod-template.ts';

function specOf(object: KubeObject): NonNullable<IDeployment['spec']> | undefined {
  return typed<IDeployment>(object).spec;
}

/** Alone among the workloads, a Deployment does not take labels through its status. */
export const deploymentStatusHooks: Pick<ResourceHooks, 'prepareForUpdate' | 'validate'> = {
  prepareForUpdate(object, old) {
    if (old.metadata.labels === undefined) delete object.metadata.labels;
    else object.metadata.labels = { ...old.metadata.labels };
  },
  validate: (object) =>
    countFaults(object, {
      counts: ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas'],
      others: ['observedGeneration', 'collisionCount'],
      bounded: ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
      ready: 'readyReplicas',
    }),
};

export const deploymentHooks: ResourceHooks = {
  default(object) {
    const spec = specOf(object);
    if (!spec) return;
    spec.replicas ??= 1;
    spec.revisionHistoryLimit ??= 10;
    spec.progressDeadlineSeconds ??= 600;
    spec.strategy ??= {};
    spec.strategy.type ??= 'RollingUpdate';
    if (spec.strategy.type === 'RollingUpdate') {
      spec.strategy.rollingUpdate ??= {};
      spec.strategy.rollingUpdate.maxUnavailable ??= '25%';
      spec.strategy.rollingUpdate.maxSurge ??= '25%';
    }
    if (spec.template?.spec) defaultPodSpec(spec.template.spec);
  },
  validate(object, context, old) {
    const spec = specOf(object);
    if (!spec) return [];
    warnOfTemplate(context, spec, old && specOf(old));
    const faults = [
      ...notNegative(spec.replicas, 'spec.replicas'),
      ...validateSelectorAndTemplate(spec, ['Always']),
      ...notNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
      ...notNegative(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit'),
    ];
    const type = spec.strategy?.type ?? '';
    if (!['Recreate', 'RollingUpdate'].includes(type))
      faults.push(notSupported('spec.strategy.type', type, ['Recreate', 'RollingUpdate']));
    if (type === 'Recreate' && spec.strategy?.rollingUpdate)
      faults.push({
        reason: 'FieldValueForbidden',
        field: 'spec.strategy.rollingUpdate',
        message: "Forbidden: may not be specified when strategy `type` is 'Recreate'",
      });
    if (type === 'RollingUpdate')
      faults.push(...rollingFaults(spec.strategy?.rollingUpdate ?? {}, 'spec.strategy.rollingUpdate'));
    const deadline = spec.progressDeadlineSeconds;
    faults.push(...notNegative(deadline, 'spec.progressDeadlineSeconds'));
    if (deadline !== undefined && deadline <= (spec.minReadySeconds ?? 0))
      faults.push(
        invalidValue('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'),
      );
    return faults;
  },
  validateUpdate(object, old) {
    return selectorIsFixed(specOf(object)?.selector, specOf(old)?.selector);
  },
};

/** Without either, nothing could ever be replaced. */
function rollingFaults(
  { maxUnavailable = 0, maxSurge = 0 }: { maxUnavailable?: string | number; maxSurge?: string | number },
  path: string,
): FieldFault[] {
  const faults = [
    ...amountFaults(maxUnavailable, `${path}.maxUnavailable`),
    ...amountFaults(maxSurge, `${path}.maxSurge`),
  ];
  if (isNothing(maxUnavailable) && isNothing(maxSurge))
    faults.push(invalidValue(`${path}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
  if (typeof maxUnavailable === 'string' && Number.parseInt(maxUnavailable, 10) > 100)
    faults.push(invalidValue(`${path}.maxUnavailable`, maxUnavailable, 'must not be greater than 100%'));
  return faults;
}

export function isNothing(amount: string | number): boolean {
  return amount === 0 || amount === '0%';
}

/** A count or a percentage. */
export function amountFaults(amount: string | number, path: string): FieldFault[] {
  if (typeof amount === 'number') return notNegative(amount, path);
  return parsePercent(amount) === undefined ? [invalidValue(path, amount, PERCENT_SYNTAX_MESSAGE)] : [];
}

export function selectorIsFixed(selector: unknown, before: unknown): FieldFault[] {
  return equal(selector, before) ? [] : [invalidValue('spec.selector', selector, 'field is immutable')];
}
