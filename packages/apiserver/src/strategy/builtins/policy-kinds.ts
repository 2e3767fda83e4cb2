/** Leases, priority classes, quotas and endpoint slices: small kinds with small rules. */

import { Quantity } from '@slurm-operator/kubernetes-values';
import type { ILease } from 'kubernetes-models/coordination.k8s.io/v1/Lease';
import type { IEndpointSlice } from 'kubernetes-models/discovery.k8s.io/v1/EndpointSlice';
import type { IPriorityClass } from 'kubernetes-models/scheduling.k8s.io/v1/PriorityClass';
import type { IResourceQuota } from 'kubernetes-models/v1/ResourceQuota';
import { type FieldFault, notImplemented } from '../../api/errors.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../../api/fault.ts';
import { typed } from '../../api/typed.ts';
import type { KubeObject } from '../../api/types.ts';
import type { BuiltinHooks } from './define.ts';

const HIGHEST_USER_PRIORITY = 1_000_000_000;

const lease = (object: KubeObject) => typed<ILease>(object).spec;
const priorityClass = (object: KubeObject) => typed<IPriorityClass>(object);
const slice = (object: KubeObject) => typed<IEndpointSlice>(object);

export const leaseHooks: BuiltinHooks = {
  validate(object) {
    const spec = lease(object);
    const faults: FieldFault[] = [];
    if (spec?.leaseDurationSeconds !== undefined && spec.leaseDurationSeconds <= 0)
      faults.push(
        invalidValue('spec.leaseDurationSeconds', spec.leaseDurationSeconds, 'must be greater than 0'),
      );
    if ((spec?.leaseTransitions ?? 0) < 0)
      faults.push(
        invalidValue('spec.leaseTransitions', spec?.leaseTransitions, 'must be greater than or equal to 0'),
      );
    return faults;
  },
};

export const priorityClassHooks: BuiltinHooks = {
  default(object) {
    priorityClass(object).preemptionPolicy ??= 'PreemptLowerPriority';
  },
  prepareForCreate(object) {
    object.metadata.generation = 1;
  },
  validate(object) {
    const { value = 0, metadata } = priorityClass(object);
    const system = metadata?.name?.startsWith('system-') ?? false;
    if (system && !['system-node-critical', 'system-cluster-critical'].includes(metadata?.name ?? ''))
      return [
        forbiddenField(
          'metadata.name',
          `priority class names with 'system-' prefix are reserved for system use only. error: ${metadata?.name} is not a known system priority class`,
        ),
      ];
    return !system && value > HIGHEST_USER_PRIORITY
      ? [
          forbiddenField(
            'value',
            `maximum allowed value of a user defined priority is ${HIGHEST_USER_PRIORITY}`,
          ),
        ]
      : [];
  },
  validateUpdate(object, old) {
    const fixed = ['value', 'preemptionPolicy'] as const;
    return fixed
      .filter((key) => priorityClass(object)[key] !== priorityClass(old)[key])
      .map((key) =>
        key === 'value'
          ? forbiddenField('value', 'may not be changed in an update.')
          : invalidValue('preemptionPolicy', priorityClass(object).preemptionPolicy, 'field is immutable'),
      );
  },
};

export const resourceQuotaHooks: BuiltinHooks = {
  validate(object) {
    const { spec } = typed<IResourceQuota>(object);
    if (spec?.scopes?.length || spec?.scopeSelector) throw notImplemented('scopes of resource quotas');
    return Object.entries(spec?.hard ?? {}).flatMap(([name, amount]) =>
      (Quantity.parse(amount)?.nanos ?? 0n) < 0n
        ? [invalidValue(`spec.hard[${name}]`, String(amount), 'must be greater than or equal to 0')]
        : [],
    );
  },
};

export const endpointSliceHooks: BuiltinHooks = {
  default(object) {
    for (const port of slice(object).ports ?? []) {
      port.name ??= '';
      port.protocol ??= 'TCP';
    }
  },
  validate(object) {
    const { addressType } = slice(object);
    if (!addressType) return [required('addressType')];
    return ['IPv4', 'IPv6', 'FQDN'].includes(addressType)
      ? []
      : [notSupported('addressType', addressType, ['FQDN', 'IPv4', 'IPv6'])];
  },
  validateUpdate(object, old) {
    return slice(object).addressType === slice(old).addressType
      ? []
      : [invalidValue('addressType', slice(object).addressType, 'field is immutable')];
  },
};
