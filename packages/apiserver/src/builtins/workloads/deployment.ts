/** What is special about Deployments. */
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { FieldFault } from '../../errors.ts';
import { equal } from '../../json.ts';
import type { ResourceHooks } from '../../registry/resource-definition.ts';
import type { KubeObject } from '../../types.ts';
import { invalidValue, notSupported } from '../fault.ts';
import { defaultPodSpec } from '../pod/default-pod-spec.ts';
import { notNegative, validateSelectorAndTemplate } from './pod-template.ts';

function specOf(object: KubeObject): NonNullable<IDeployment['spec']> | undefined {
  return (object as unknown as IDeployment).spec;
}

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
  validate(object) {
    const spec = specOf(object);
    if (!spec) return [];
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
    return faults;
  },
  validateUpdate(object, old) {
    return selectorIsFixed(specOf(object)?.selector, specOf(old)?.selector);
  },
};

export function selectorIsFixed(selector: unknown, before: unknown): FieldFault[] {
  return equal(selector, before) ? [] : [invalidValue('spec.selector', selector, 'field is immutable')];
}
