/** Volume claims, volumes and storage classes. */
import type { IStorageClass } from 'kubernetes-models/storage.k8s.io/v1/StorageClass';
import type { IPersistentVolume } from 'kubernetes-models/v1/PersistentVolume';
import type { IPersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import type { FieldFault } from '../errors.ts';
import { clone, equal } from '../json.ts';
import type { KubeObject } from '../types.ts';
import { defaultClaim } from './default-claim.ts';
import type { BuiltinHooks } from './define.ts';
import { forbiddenField, invalidValue, notSupported, required } from './fault.ts';
import { internalDiff } from './internal-form.ts';
import { compareQuantities, parseQuantity, ZERO_QUANTITY } from './quantity.ts';

const FIXED =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
const ACCESS_MODES = ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'];

const claim = (object: KubeObject) => object as unknown as IPersistentVolumeClaim;
const volume = (object: KubeObject) => object as unknown as IPersistentVolume;
const storageClass = (object: KubeObject) => object as unknown as IStorageClass;

export const claimHooks: BuiltinHooks = {
  default: (object) => defaultClaim(claim(object)),
  validate(object) {
    const { spec } = claim(object);
    if (!spec) return [];
    const faults: FieldFault[] = accessModeFaults(spec.accessModes, 'spec.accessModes');
    const storage = spec.resources?.requests?.['storage'];
    if (storage === undefined) faults.push(required('spec.resources[storage]'));
    else if (compareQuantities(parseQuantity(storage) ?? ZERO_QUANTITY, ZERO_QUANTITY) <= 0)
      faults.push(invalidValue('spec.resources[storage]', String(storage), 'must be greater than zero'));
    return faults;
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
  const now = parseQuantity(wanted);
  const then = parseQuantity(had);
  return now !== undefined && then !== undefined && compareQuantities(now, then) >= 0;
}

function accessModeFaults(modes: readonly string[] | undefined, path: string): FieldFault[] {
  if (!modes?.length) return [required(path, 'at least 1 access mode is required')];
  return modes
    .filter((mode) => !ACCESS_MODES.includes(mode))
    .map((mode) => notSupported(path, mode, ACCESS_MODES));
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
  validate(object) {
    const { spec } = volume(object);
    const faults = accessModeFaults(spec?.accessModes, 'spec.accessModes');
    if (!spec?.capacity || Object.keys(spec.capacity).length === 0) faults.push(required('spec.capacity'));
    return faults;
  },
};

export const storageClassHooks: BuiltinHooks = {
  default(object) {
    const it = storageClass(object);
    it.reclaimPolicy ??= 'Delete';
    it.volumeBindingMode ??= 'Immediate';
  },
  validate: (object) => (storageClass(object).provisioner ? [] : [required('provisioner')]),
  validateUpdate(object, old) {
    const fixed = ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'] as const;
    return fixed
      .filter((key) => !equal(storageClass(object)[key], storageClass(old)[key]))
      .map((key) => forbiddenField(key, `updates to ${key} are forbidden.`));
  },
};
