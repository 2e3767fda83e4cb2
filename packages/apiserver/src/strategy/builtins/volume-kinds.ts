/** Volume claims, volumes and storage classes. */
import { dnsSubdomain, Quantity } from '@slurm-operator/kubernetes-values';
import type { IStorageClass } from 'kubernetes-models/storage.k8s.io/v1/StorageClass';
import type { IPersistentVolume } from 'kubernetes-models/v1/PersistentVolume';
import type { IPersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import type { FieldFault } from '../../api/errors.ts';
import { forbiddenField, invalidValue, required } from '../../api/fault.ts';
import { clone, equal } from '../../api/json.ts';
import { typed } from '../../api/typed.ts';
import { type KubeObject, timestamp } from '../../api/types.ts';
import type { BuiltinHooks } from './define.ts';
import { internalDiff } from './internal-form.ts';
import { nodeSelectorFaults } from './pod/validate-scheduling.ts';
import { oneOf } from './pod/validate-security.ts';
import { absoluteFaults, driverFaults, hostPathFaults } from './pod/validate-volume.ts';
import { accessModeFaults, claimSpecFaults } from './validate-claim.ts';

const FIXED =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

const asClaim = (object: KubeObject) => typed<IPersistentVolumeClaim>(object);
const volume = (object: KubeObject) => typed<IPersistentVolume>(object);
const storageClass = (object: KubeObject) => typed<IStorageClass>(object);

export const claimHooks: BuiltinHooks = {
  default: (object) => defaultClaim(asClaim(object)),
  prepareForCreate: (object) => matchDataSources(asClaim(object).spec),
  validate(object) {
    return claimSpecFaults(asClaim(object).spec, 'spec');
  },
  validateUpdate(object, old) {
    const [now, before] = [asClaim(object), asClaim(old)];
    const spec = clone(now.spec ?? {});
    // Binding writes the volume's name once; a class may be given late; a bound claim may ask for more.
    if (!before.spec?.volumeName) delete spec.volumeName;
    const reference = clone(before.spec ?? {});
    if (!reference.volumeName) delete reference.volumeName;
    if (reference.storageClassName === undefined) delete spec.storageClassName;
    if (now.status?.phase === 'Bound') {
      const had = reference.resources?.requests?.['storage'];
      if (spec.resources?.requests && had !== undefined)
        spec.resources = { ...spec.resources, requests: { ...spec.resources.requests, storage: had } };
      if (spec.volumeAttributesClassName !== undefined) {
        delete spec.volumeAttributesClassName;
        delete reference.volumeAttributesClassName;
      }
    }
    const faults = equal(spec, reference)
      ? []
      : [
          forbiddenField(
            'spec',
            `${FIXED}\n${internalDiff('PersistentVolumeClaimSpec', before.spec, now.spec)}`,
          ),
        ];
    return [
      ...faults,
      ...shrinkFaults(now, before),
      ...modeFaults(now, before),
      ...attributeFaults(now, before),
    ];
  },
};

function modeFaults(now: IPersistentVolumeClaim, before: IPersistentVolumeClaim): FieldFault[] {
  const mode = now.spec?.volumeMode;
  // The path is that of the real server.
  return mode === before.spec?.volumeMode
    ? []
    : [invalidValue('volumeMode', mode ?? null, 'field is immutable')];
}

/** Attributes of a volume change with their class, and there is always one once there was one. */
function attributeFaults(now: IPersistentVolumeClaim, before: IPersistentVolumeClaim): FieldFault[] {
  const path = 'spec.volumeAttributesClassName';
  if (before.spec?.volumeAttributesClassName === undefined) return [];
  switch (now.spec?.volumeAttributesClassName) {
    case undefined:
      return [forbiddenField(path, 'update from non-nil value to nil is forbidden')];
    case '':
      return [forbiddenField(path, 'update from non-nil value to an empty string is forbidden')];
    default:
      return [];
  }
}

export const claimStatusHooks: Pick<BuiltinHooks, 'validate'> = {
  validate: (object) =>
    Object.entries(asClaim(object).status?.capacity ?? {}).flatMap(([name, amount]) => {
      const quantity = Quantity.parse(amount);
      return quantity !== undefined && quantity.compare(Quantity.ZERO) < 0
        ? [invalidValue(`status.capacity[${name}]`, Number(quantity), 'must be a valid resource quantity')]
        : [];
    }),
};

/** What a claim asks for may be taken back after a failed expansion, but not below what it has. */
function shrinkFaults(now: IPersistentVolumeClaim, before: IPersistentVolumeClaim): FieldFault[] {
  const size = (amount: string | number | undefined) => Quantity.parse(amount ?? 0) ?? Quantity.ZERO;
  const wanted = size(now.spec?.resources?.requests?.['storage']);
  if (wanted.compare(size(before.spec?.resources?.requests?.['storage'])) >= 0) return [];
  return wanted.compare(size(before.status?.capacity?.['storage'])) <= 0
    ? [forbiddenField('spec.resources.requests.storage', 'field can not be less than status.capacity')]
    : [];
}

/** Claims are filled from claims and snapshots in the old field, from anything in the new one; either gives the other. */
function matchDataSources(spec: IPersistentVolumeClaim['spec']): void {
  if (!spec) return;
  const group = spec.dataSource?.apiGroup ?? '';
  const isClaim = spec.dataSource?.kind === 'PersistentVolumeClaim' && group === '';
  const isSnapshot = spec.dataSource?.kind === 'VolumeSnapshot' && group === 'snapshot.storage.k8s.io';
  if (!isClaim && !isSnapshot) delete spec.dataSource;
  // A source in another namespace is behind a gate that is closed by default.
  if (spec.dataSourceRef?.namespace) delete spec.dataSourceRef;
  if (spec.dataSource) spec.dataSourceRef ??= { ...spec.dataSource };
  else if (spec.dataSourceRef) {
    const { kind, name, apiGroup } = spec.dataSourceRef;
    spec.dataSource = { kind, name, ...(apiGroup === undefined ? {} : { apiGroup }) };
  }
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
    if (status) status.lastPhaseTransitionTime = timestamp(parts.environment.now());
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
    faults.push(
      ...oneOf(spec.persistentVolumeReclaimPolicy, 'spec.persistentVolumeReclaimPolicy', [
        'Delete',
        'Recycle',
        'Retain',
      ]),
    );
    const affinity = spec.nodeAffinity?.required;
    if (affinity) faults.push(...nodeSelectorFaults(affinity, 'spec.nodeAffinity.required'));
    const [first, ...more] = sourcesOf(spec);
    if (first === undefined) faults.push(required('spec', 'must specify a volume type'));
    else faults.push(...sourceFaults(spec));
    for (const extra of more)
      faults.push(forbiddenField(`spec.${extra}`, 'may not specify more than 1 volume type'));
    const { storageClassName: name } = spec;
    if (name)
      faults.push(...dnsSubdomain(name).map((text) => invalidValue('spec.storageClassName', name, text)));
    faults.push(...oneOf(spec.volumeMode, 'spec.volumeMode', ['Block', 'Filesystem']));
    return faults;
  },
  validateUpdate(object, old) {
    const [now, before] = [volume(object).spec ?? {}, volume(old).spec ?? {}];
    const source = (spec: object) => pick(spec, volumeSources);
    const faults: FieldFault[] = [];
    if (!equal(source(now), source(before)))
      faults.push(
        forbiddenField(
          'spec.persistentvolumesource',
          `spec.persistentvolumesource is immutable after creation\n${internalDiff('PersistentVolumeSource', source(before), source(now))}`,
        ),
      );
    if (now.volumeMode !== before.volumeMode)
      faults.push(invalidValue('volumeMode', now.volumeMode ?? null, 'field is immutable'));
    return faults;
  },
};

type VolumeSpec = NonNullable<IPersistentVolume['spec']>;

/** Of the kinds of volumes that people create themselves. */
function sourceFaults({ hostPath, local, nfs, csi, nodeAffinity }: VolumeSpec): FieldFault[] {
  if (hostPath) return hostPathFaults(hostPath, 'spec.hostPath');
  if (nfs)
    return [
      ...(nfs.server ? [] : [required('spec.nfs.server')]),
      ...absoluteFaults(nfs.path, 'spec.nfs.path'),
    ];
  if (csi)
    return [
      ...driverFaults(csi.driver, 'spec.csi.driver'),
      ...(csi.volumeHandle ? [] : [required('spec.csi.volumeHandle')]),
    ];
  if (!local) return [];
  return [
    ...(local.path ? [] : [required('spec.local.path')]),
    ...(nodeAffinity?.required ? [] : [required('spec.nodeAffinity', 'Local volume requires node affinity')]),
  ];
}

/** A change of phase is stamped. */
export const volumeStatusHooks: Pick<BuiltinHooks, 'prepareForUpdate'> = {
  prepareForUpdate(object, old, { parts }) {
    const { status } = volume(object);
    const before = volume(old).status;
    if (!status) return;
    if (status.phase !== before?.phase) status.lastPhaseTransitionTime = timestamp(parts.environment.now());
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

/** The defaults of a volume claim, and of the claim templates inside other objects. */
export function defaultClaim(claim: Pick<IPersistentVolumeClaim, 'spec' | 'status'>): void {
  if (claim.spec) claim.spec.volumeMode ??= 'Filesystem';
  claim.status ??= {};
  claim.status.phase ??= 'Pending';
}
