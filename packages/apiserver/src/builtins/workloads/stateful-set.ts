/** What is special about StatefulSets. */
import type { IStatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { clone, equal } from '../../json.ts';
import type { ResourceHooks } from '../../registry/resource-definition.ts';
import type { KubeObject } from '../../types.ts';
import { defaultClaim } from '../default-claim.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../fault.ts';
import { defaultPodSpec } from '../pod/default-pod-spec.ts';
import { notNegative, validateSelectorAndTemplate } from './pod-template.ts';

const FIXED =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
const MUTABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const;

function specOf(object: KubeObject): NonNullable<IStatefulSet['spec']> | undefined {
  return (object as unknown as IStatefulSet).spec;
}

/** The template as its pods will be: each claim is a volume of the same name, in place of one the template gives. */
function withClaims(spec: NonNullable<IStatefulSet['spec']>): NonNullable<IStatefulSet['spec']>['template'] {
  const { template } = spec;
  const names = (spec.volumeClaimTemplates ?? []).map((claim) => claim.metadata?.name ?? '');
  if (!template?.spec || names.length === 0) return template;
  const others = (template.spec.volumes ?? []).filter((volume) => !names.includes(volume.name));
  const claims = names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  return { ...template, spec: { ...template.spec, volumes: [...others, ...claims] } };
}

export const statefulSetHooks: ResourceHooks = {
  default(object) {
    const spec = specOf(object);
    if (!spec) return;
    spec.replicas ??= 1;
    spec.podManagementPolicy ??= 'OrderedReady';
    spec.revisionHistoryLimit ??= 10;
    spec.persistentVolumeClaimRetentionPolicy ??= {};
    spec.persistentVolumeClaimRetentionPolicy.whenDeleted ??= 'Retain';
    spec.persistentVolumeClaimRetentionPolicy.whenScaled ??= 'Retain';
    spec.updateStrategy ??= {};
    spec.updateStrategy.type ??= 'RollingUpdate';
    if (spec.updateStrategy.type === 'RollingUpdate') {
      spec.updateStrategy.rollingUpdate ??= {};
      spec.updateStrategy.rollingUpdate.partition ??= 0;
    }
    if (spec.template?.spec) defaultPodSpec(spec.template.spec);
    for (const claim of spec.volumeClaimTemplates ?? []) {
      claim.apiVersion ??= 'v1';
      claim.kind ??= 'PersistentVolumeClaim';
      defaultClaim(claim);
    }
  },
  validate(object) {
    const spec = specOf(object);
    if (!spec) return [];
    const faults = [];
    if (!spec.podManagementPolicy) faults.push(required('spec.podManagementPolicy'));
    else if (!['OrderedReady', 'Parallel'].includes(spec.podManagementPolicy))
      faults.push(
        notSupported('spec.podManagementPolicy', spec.podManagementPolicy, ['OrderedReady', 'Parallel']),
      );
    if (!['RollingUpdate', 'OnDelete'].includes(spec.updateStrategy?.type ?? ''))
      faults.push(
        notSupported('spec.updateStrategy', spec.updateStrategy?.type ?? '', ['RollingUpdate', 'OnDelete']),
      );
    if (spec.updateStrategy?.type === 'OnDelete' && spec.updateStrategy.rollingUpdate)
      faults.push(
        invalidValue(
          'spec.updateStrategy.rollingUpdate',
          spec.updateStrategy.rollingUpdate,
          "only allowed for updateStrategy 'RollingUpdate'",
        ),
      );
    faults.push(...notNegative(spec.replicas, 'spec.replicas'));
    faults.push(...notNegative(spec.minReadySeconds, 'spec.minReadySeconds'));
    faults.push(...notNegative(spec.ordinals?.start, 'spec.ordinals.start'));
    faults.push(...validateSelectorAndTemplate({ ...spec, template: withClaims(spec) }, ['Always']));
    return faults;
  },
  validateUpdate(object, old) {
    const spec = clone(specOf(object) ?? {}) as Record<string, unknown>;
    const before = (specOf(old) ?? {}) as Record<string, unknown>;
    for (const key of MUTABLE) {
      if (before[key] === undefined) delete spec[key];
      else spec[key] = before[key];
    }
    return equal(spec, before) ? [] : [forbiddenField('spec', FIXED)];
  },
};
