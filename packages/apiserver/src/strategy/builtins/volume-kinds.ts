/** Volume claims, volumes and storage classes. */

import { Quantity } from '@slurm-operator/kubernetes-values';
import type { IStorageClass } from 'kubernetes-models/storage.k8s.io/v1/StorageClass';
import type { IPersistentVolume } from 'kubernetes-models/v1/PersistentVolume';
import type { IPersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import { forbiddenField, required } from '../../api/fault.ts';
import { clone, equal } from '../../api/json.ts';
import { type KubeObject, timestamp } from '../../api/types.ts';
import { defaultClaim } from './default-claim.ts';
import type { BuiltinHooks } from './define.ts';
import { internalDiff } from './internal-form.ts';
import { oneOf } from './pod/validate-security.ts';
import { accessModeFaults, claimSpecFaults } from './validate-claim.ts';

const FIXED =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

const claim = (object: KubeObject) => object as unknown as IPersistentVolumeClaim;
const volume = (object: KubeObject) => object as unknown as IPersistentVolume;
const storageClass = (object: KubeObject) => object as unknown as IStorageClass;

export const claimHooks: BuiltinHooks = {
  default: (object) => defaultClaim(claim(object)),
  validate(object) {
    return claimSpecFaults(claim(object).spec, 'spec');
  },
  validateUpdate(object, old) {
    const before = claim(old);
    const spec = clone(claim(object).spec ?? {});
    // Binding writes the volume's name once; a class may be given late; a bound claim may ask for more.
    if (!before.spec?.volumeName) delete spec.volumeName;
    const reference = clone(before.spec ?? {});
    if (!reference.volumeName) delete reference.volumeName;
    if (reference.storageClassName === undefined) delete spec.storageClassName;
    if (before.status?.phase === 'Bound' && spec.resources && reference.resources) {
      const wanted = spec.resources.requests?.['storage'];
      const had = reference.resources.requests?.['storage'];
      if (wanted !== undefined && had !== undefined && grows(wanted, had))
        spec.resources = reference.resources;
    }
    if (equal(spec, reference)) return [];
    return [
      forbiddenField(
        'spec',
        `${FIXED}\n${internalDiff('PersistentVolumeClaimSpec', before.spec, claim(object).spec)}`,
      ),
    ];
  },
};

function grows(wanted: string | number, had: string | number): boolean {
  const now = Quantity.parse(wanted);
  const then = Quantity.parse(had);
  return now !== undefined && then !== undefined && now.compare(then) >= 0;
}

export const volumeHooks: BuiltinHooks = {
  default(object) {
    const { spec, status } = volume(object);
    if (spec) {
      spec.persistentVolumeReclaimPolicy ??= 'Retain';
      spec.volumeMode ??= 'Filesystem';
      if (spec.hostPath) spec.hostPath.type ??= '';
    }
    if (status) status.phase ??= 'Pending';
  },
  prepareForCreate(object, { parts }) {
    const { status } = volume(object);
    if (status) status.lastPhaseTransitionTime = timestamp(parts.surroundings.now());
  },
  validate(object) {
    const { spec = {} } = volume(object);
    const faults = accessModeFaults(spec.accessModes, 'spec.accessModes');
    const capacity = Object.keys(spec.capacity ?? {});
    if (capacity.length === 0) faults.push(required('spec.capacity'));
    if (capacity.length !== 1 || capacity[0] !== 'storage')
      faults.push({
        reason: 'FieldValueNotSupported',
        field: 'spec.capacity',
        message: `Unsupported value: ${JSON.stringify(spec.capacity ?? null)}: supported values: "storage"`,
      });
    const [first, ...more] = sourcesOf(spec);
    if (first === undefined) faults.push(required('spec', 'must specify a volume type'));
    for (const extra of more)
      faults.push(forbiddenField(`spec.${extra}`, 'may not specify more than 1 volume type'));
    return faults;
  },
  validateUpdate(object, old) {
    const [now, before] = [volume(object).spec ?? {}, volume(old).spec ?? {}];
    const source = (spec: object) => pick(spec, volumeSources);
    if (equal(source(now), source(before))) return [];
    const diff = internalDiff('PersistentVolumeSource', source(before), source(now));
    return [
      forbiddenField(
        'spec.persistentvolumesource',
        `spec.persistentvolumesource is immutable after creation\n${diff}`,
      ),
    ];
  },
};

/** A change of phase is stamped. */
export const volumeStatusHooks: Pick<BuiltinHooks, 'prepareForUpdate'> = {
  prepareForUpdate(object, old, { parts }) {
    const { status } = volume(object);
    const before = volume(old).status;
    if (!status) return;
    if (status.phase !== before?.phase) status.lastPhaseTransitionTime = timestamp(parts.surroundings.now());
    else if (status.lastPhaseTransitionTime === undefined && before?.lastPhaseTransitionTime !== undefined)
      status.lastPhaseTransitionTime = before.lastPhaseTransitionTime;
  },
};

/** What a volume can be made of, in the order in which the API looks at them. */
const volumeSources =
  `hostPath gcePersistentDisk awsElasticBlockStore glusterfs flocker nfs rbd quobyte cephfs iscsi cinder
  fc flexVolume azureFile vsphereVolume azureDisk photonPersistentDisk portworxVolume scaleIO local storageos csi`.split(
    /\s+/,
  );

function sourcesOf(spec: object): string[] {
  return Object.keys(pick(spec, volumeSources));
}

function pick(value: object, keys: readonly string[]): Record<string, unknown> {
  const given = value as Record<string, unknown>;
  return Object.fromEntries(keys.filter((key) => given[key] !== undefined).map((key) => [key, given[key]]));
}

export const storageClassHooks: BuiltinHooks = {
  default(object) {
    const it = storageClass(object);
    it.reclaimPolicy ??= 'Delete';
    it.volumeBindingMode ??= 'Immediate';
  },
  validate(object) {
    const { provisioner, reclaimPolicy, volumeBindingMode } = storageClass(object);
    return [
      ...(provisioner ? [] : [required('provisioner')]),
      ...oneOf(reclaimPolicy, 'reclaimPolicy', ['Delete', 'Retain']),
      ...oneOf(volumeBindingMode, 'volumeBindingMode', ['Immediate', 'WaitForFirstConsumer']),
    ];
  },
  validateUpdate(object, old) {
    const fixed = ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'] as const;
    return fixed
      .filter((key) => !equal(storageClass(object)[key], storageClass(old)[key]))
      .map((key) => forbiddenField(key, `updates to ${key} are forbidden.`));
  },
};
