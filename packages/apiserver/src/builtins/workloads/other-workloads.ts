/** ReplicaSets, DaemonSets and ControllerRevisions: defaults and rules. */
import type { IControllerRevision } from 'kubernetes-models/apps/v1/ControllerRevision';
import type { IDaemonSet } from 'kubernetes-models/apps/v1/DaemonSet';
import type { IReplicaSet } from 'kubernetes-models/apps/v1/ReplicaSet';
import { equal } from '../../json.ts';
import type { ResourceHooks } from '../../registry/resource-definition.ts';
import type { KubeObject } from '../../types.ts';
import { invalidValue, notSupported, required } from '../fault.ts';
import { defaultPodSpec } from '../pod/default-pod-spec.ts';
import { selectorIsFixed } from './deployment.ts';
import { NOT_NEGATIVE, notNegative, validateSelectorAndTemplate } from './pod-template.ts';

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

const replicaSet = (object: KubeObject) => (object as unknown as IReplicaSet).spec;
const daemonSet = (object: KubeObject) => (object as unknown as IDaemonSet).spec;
const revision = (object: KubeObject) => object as unknown as IControllerRevision;

export const replicaSetHooks: ResourceHooks = {
  default(object) {
    const spec = replicaSet(object);
    if (!spec) return;
    spec.replicas ??= 1;
    if (spec.template?.spec) defaultPodSpec(spec.template.spec);
  },
  validate(object) {
    const spec = replicaSet(object);
    if (!spec) return [];
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
  validate(object) {
    const spec = daemonSet(object);
    if (!spec) return [];
    const faults = validateSelectorAndTemplate(spec, ['Always']);
    const type = spec.updateStrategy?.type ?? '';
    if (!['RollingUpdate', 'OnDelete'].includes(type))
      faults.push(notSupported('spec.updateStrategy.type', type, ['RollingUpdate', 'OnDelete']));
    return faults;
  },
  validateUpdate: (object, old) => selectorIsFixed(daemonSet(object)?.selector, daemonSet(old)?.selector),
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
