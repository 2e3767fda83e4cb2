/** ReplicaSets, DaemonSets and ControllerRevisions: defaults and rules. */

import type { IControllerRevision } from 'kubernetes-models/apps/v1/ControllerRevision';
import type { IDaemonSet } from 'kubernetes-models/apps/v1/DaemonSet';
import type { IReplicaSet } from 'kubernetes-models/apps/v1/ReplicaSet';
import type { FieldFault } from '../../../api/errors.ts';
import { invalidValue, notSupported, required } from '../../../api/fault.ts';
import { equal } from '../../../api/json.ts';
import { typed } from '../../../api/typed.ts';
import type { KubeObject } from '../../../api/types.ts';
import type { ResourceHooks } from '../../../resource/resource-definition.ts';
import { defaultPodSpec } from '../pod/default-pod-spec.ts';
import { countFaults } from './count-faults.ts';
import { amountFaults, isNothing, selectorIsFixed } from './deployment.ts';
import { NOT_NEGATIVE, notNegative, validateSelectorAndTemplate, warnOfTemplate } from './pod-template.ts';

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

const replicaSet = (object: KubeObject) => typed<IReplicaSet>(object).spec;
const daemonSet = (object: KubeObject) => typed<IDaemonSet>(object).spec;
const revision = (object: KubeObject) => typed<IControllerRevision>(object);

export const replicaSetHooks: ResourceHooks = {
  default(object) {
    const spec = replicaSet(object);
    if (!spec) return;
    spec.replicas ??= 1;
    if (spec.template?.spec) defaultPodSpec(spec.template.spec);
  },
  validate(object, context, old) {
    const spec = replicaSet(object);
    if (!spec) return [];
    warnOfTemplate(context, spec, old && replicaSet(old));
    return [...notNegative(spec.replicas, 'spec.replicas'), ...validateSelectorAndTemplate(spec, ['Always'])];
  },
  validateUpdate: (object, old) => selectorIsFixed(replicaSet(object)?.selector, replicaSet(old)?.selector),
};

export const daemonSetHooks: ResourceHooks = {
  default(object) {
    const spec = daemonSet(object);
    if (!spec) return;
    spec.revisionHistoryLimit ??= 10;
    spec.updateStrategy ??= {};
    spec.updateStrategy.type ??= 'RollingUpdate';
    if (spec.updateStrategy.type === 'RollingUpdate') {
      spec.updateStrategy.rollingUpdate ??= {};
      spec.updateStrategy.rollingUpdate.maxUnavailable ??= 1;
      spec.updateStrategy.rollingUpdate.maxSurge ??= 0;
    }
    if (spec.template?.spec) defaultPodSpec(spec.template.spec);
    object.metadata.annotations = { [TEMPLATE_GENERATION]: '1', ...object.metadata.annotations };
  },
  prepareForUpdate(object, old) {
    const before = Number(old.metadata.annotations?.[TEMPLATE_GENERATION] ?? 1);
    const changed = !equal(daemonSet(object)?.template, daemonSet(old)?.template);
    object.metadata.annotations = {
      ...object.metadata.annotations,
      [TEMPLATE_GENERATION]: String(before + (changed ? 1 : 0)),
    };
  },
  validate(object, context, old) {
    const spec = daemonSet(object);
    if (!spec) return [];
    const before = old && daemonSet(old);
    warnOfTemplate(context, spec, before);
    // The change of a selector is told before what follows from it.
    const faults = before ? selectorIsFixed(spec.selector, before.selector) : [];
    faults.push(...validateSelectorAndTemplate(spec, ['Always'], 'daemonset'));
    const type = spec.updateStrategy?.type ?? '';
    if (!['RollingUpdate', 'OnDelete'].includes(type))
      faults.push(notSupported('spec.updateStrategy.type', type, ['RollingUpdate', 'OnDelete']));
    if (type === 'RollingUpdate') faults.push(...surgeFaults(spec.updateStrategy?.rollingUpdate ?? {}));
    return faults;
  },
};

/** A node's pod is replaced either by stopping the old one first or by starting the new one first. */
function surgeFaults({
  maxUnavailable = 0,
  maxSurge = 0,
}: {
  maxUnavailable?: string | number;
  maxSurge?: string | number;
}): FieldFault[] {
  const path = 'spec.updateStrategy.rollingUpdate';
  const faults = [
    ...amountFaults(maxUnavailable, `${path}.maxUnavailable`),
    ...amountFaults(maxSurge, `${path}.maxSurge`),
  ];
  if (!isNothing(maxUnavailable) && !isNothing(maxSurge))
    faults.push(invalidValue(`${path}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero'));
  if (isNothing(maxUnavailable) && isNothing(maxSurge))
    faults.push(required(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'));
  return faults;
}

export const replicaSetStatusHooks: Pick<ResourceHooks, 'validate'> = {
  validate: (object) =>
    countFaults(object, {
      counts: ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
      others: ['observedGeneration'],
      bounded: ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
      ready: 'readyReplicas',
    }),
};

export const daemonSetStatusHooks: Pick<ResourceHooks, 'validate'> = {
  validate: (object) =>
    countFaults(object, {
      counts: ['currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady'],
      others: [
        'observedGeneration',
        'updatedNumberScheduled',
        'numberAvailable',
        'numberUnavailable',
        'collisionCount',
      ],
    }),
};

export const controllerRevisionHooks: ResourceHooks = {
  validate(object) {
    const { data, revision: number } = revision(object);
    return [
      ...(data === undefined || data === null ? [required('data', 'data is mandatory')] : []),
      ...(number < 0 ? [invalidValue('revision', number, NOT_NEGATIVE)] : []),
    ];
  },
  validateUpdate(object, old) {
    return equal(revision(object).data, revision(old).data)
      ? []
      : [invalidValue('data', revision(object).data, 'field is immutable')];
  },
};
