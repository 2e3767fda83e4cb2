/** What is special about StatefulSets. */

import type { IStatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import type { FieldFault } from '../../../api/errors.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../../../api/fault.ts';
import { clone, equal } from '../../../api/json.ts';
import { typed } from '../../../api/typed.ts';
import type { KubeObject } from '../../../api/types.ts';
import type { ResourceHooks } from '../../../resource/resource-definition.ts';
import { defaultPodSpec } from '../pod/default-pod-spec.ts';
import { claimSpecFaults } from '../validate-claim.ts';
import { defaultClaim } from '../volume-kinds.ts';
import { countFaults } from './count-faults.ts';
import { notNegative, validateSelectorAndTemplate, warnOfTemplate } from './pod-template.ts';

type Strategy = NonNullable<NonNullable<IStatefulSet['spec']>['updateStrategy']>;

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
  return typed<IStatefulSet>(object).spec;
}

/** The template as its pods will be: each claim is a volume of the same name, in place of one the template gives. */
function withClaims(spec: NonNullable<IStatefulSet['spec']>): NonNullable<IStatefulSet['spec']>['template'] {
  const { template } = spec;
  const names = [...new Set((spec.volumeClaimTemplates ?? []).map((claim) => claim.metadata?.name ?? ''))];
  if (!template?.spec || names.length === 0) return template;
  const others = (template.spec.volumes ?? []).filter((volume) => !names.includes(volume.name));
  const claims = names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  return { ...template, spec: { ...template.spec, volumes: [...others, ...claims] } };
}

/** Faults show the strategy in the server's own form. */
function strategyFaults({ type, rollingUpdate }: Strategy): FieldFault[] {
  const path = 'spec.updateStrategy';
  const shown = rollingUpdate
    ? { Partition: rollingUpdate.partition ?? 0, MaxUnavailable: rollingUpdate.maxUnavailable ?? null }
    : null;
  switch (type) {
    case undefined:
      return [required(path)];
    case 'OnDelete':
      return shown === null
        ? []
        : [invalidValue(`${path}.rollingUpdate`, shown, "only allowed for updateStrategy 'RollingUpdate'")];
    case 'RollingUpdate':
      return notNegative(rollingUpdate?.partition, `${path}.rollingUpdate.partition`);
    default:
      return [
        invalidValue(path, { Type: type, RollingUpdate: shown }, "must be 'RollingUpdate' or 'OnDelete'"),
      ];
  }
}

/** This field of the strategy is behind a gate that is closed by default: what is sent is dropped. */
function dropMaxUnavailable(object: KubeObject): void {
  const rollingUpdate = specOf(object)?.updateStrategy?.rollingUpdate;
  if (rollingUpdate) delete rollingUpdate.maxUnavailable;
}

export const statefulSetStatusHooks: Pick<ResourceHooks, 'validate'> = {
  validate: (object) =>
    countFaults(object, {
      counts: ['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
      others: ['observedGeneration', 'collisionCount'],
      bounded: ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
      ready: 'status.readyReplicas',
    }),
};

export const statefulSetHooks: ResourceHooks = {
  prepareForCreate: dropMaxUnavailable,
  prepareForUpdate: dropMaxUnavailable,
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
  validate(object, context, old) {
    const spec = specOf(object);
    if (!spec) return [];
    const faults: FieldFault[] = [];
    warnOfTemplate(context, spec, old && specOf(old));
    if (!spec.podManagementPolicy) faults.push(required('spec.podManagementPolicy'));
    else if (!['OrderedReady', 'Parallel'].includes(spec.podManagementPolicy))
      faults.push(
        invalidValue(
          'spec.podManagementPolicy',
          spec.podManagementPolicy,
          "must be 'OrderedReady' or 'Parallel'",
        ),
      );
    faults.push(...strategyFaults(spec.updateStrategy ?? {}));
    const retention = spec.persistentVolumeClaimRetentionPolicy ?? {};
    for (const key of ['whenDeleted', 'whenScaled'] as const)
      if (!['Retain', 'Delete'].includes(retention[key] ?? ''))
        faults.push(
          notSupported(`spec.persistentVolumeClaimRetentionPolicy.${key}`, retention[key] ?? '', [
            'Retain',
            'Delete',
          ]),
        );
    faults.push(...notNegative(spec.replicas, 'spec.replicas'));
    faults.push(...notNegative(spec.minReadySeconds, 'spec.minReadySeconds'));
    faults.push(...notNegative(spec.ordinals?.start, 'spec.ordinals.start'));
    for (const [index, claim] of (spec.volumeClaimTemplates ?? []).entries())
      faults.push(...claimSpecFaults(claim.spec, `spec.volumeClaimTemplates[${index}].spec`));
    faults.push(
      ...validateSelectorAndTemplate({ ...spec, template: withClaims(spec) }, ['Always'], 'statefulset'),
    );
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
