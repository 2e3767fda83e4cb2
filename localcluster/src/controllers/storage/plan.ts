/** Which class, which volume: the choices of storage. Pure. */
import { bytes } from '@slurm-operator/kubernetes-values';
import {
  ignoresFsGroup,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type StorageClass,
} from '../../objects/objects.ts';

export const provisioner = 'localcluster/directory';
const defaultAnnotation = 'storageclass.kubernetes.io/is-default-class';

/** The class a claim names; the default one when it names none; none at all when it says "". */
export function chooseClass(
  claim: PersistentVolumeClaim,
  classes: readonly StorageClass[],
): StorageClass | undefined {
  const name = claim.spec.storageClassName;
  if (name === '') return undefined;
  if (name !== undefined) return classes.find((entry) => entry.metadata.name === name);
  return classes.find((entry) => entry.metadata.annotations?.[defaultAnnotation] === 'true');
}

/** The event of a claim that finds neither a class nor a volume, in Kubernetes' words. */
export function unboundEvent(
  { spec }: PersistentVolumeClaim,
  storageClass: StorageClass | undefined,
): { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string } | undefined {
  if (storageClass !== undefined) return undefined;
  if (spec.storageClassName === undefined || spec.storageClassName === '')
    return {
      type: 'Normal',
      reason: 'FailedBinding',
      message: 'no persistent volumes available for this claim and no storage class is set',
    };
  return {
    type: 'Warning',
    reason: 'ProvisioningFailed',
    message: `storageclass.storage.k8s.io "${spec.storageClassName}" not found`,
  };
}

/** A volume that is this claim's already, or a free one that fits it, the smallest first. */
export function findVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  storageClass: StorageClass | undefined,
): PersistentVolume | undefined {
  const { uid, name, namespace } = claim.metadata;
  const own = volumes.find(
    (volume) =>
      volume.spec.claimRef?.uid === uid ||
      (volume.spec.claimRef !== undefined &&
        volume.spec.claimRef.uid === undefined &&
        volume.spec.claimRef.name === name &&
        volume.spec.claimRef.namespace === namespace),
  );
  if (own !== undefined) return own;
  const className = claim.spec.storageClassName ?? storageClass?.metadata.name ?? '';
  const size = bytes(claim.spec.resources?.requests?.['storage']);
  const capacity = (volume: PersistentVolume) => bytes(volume.spec.capacity?.['storage']);
  return volumes
    .filter(
      (volume) =>
        volume.spec.claimRef === undefined &&
        (claim.spec.volumeName === undefined || claim.spec.volumeName === volume.metadata.name) &&
        (volume.spec.storageClassName ?? '') === className &&
        capacity(volume) >= size &&
        (claim.spec.accessModes ?? []).every((mode) => (volume.spec.accessModes ?? []).includes(mode)),
    )
    .toSorted((a, b) => capacity(a) - capacity(b))[0];
}

export function buildVolume(claim: PersistentVolumeClaim, storageClass: StorageClass, path: string) {
  const { uid, name, namespace } = claim.metadata;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: `pvc-${uid}`,
      annotations: {
        'pv.kubernetes.io/provisioned-by': provisioner,
        ...(storageClass.parameters?.['ignoreFsGroup'] === 'true' && { [ignoresFsGroup]: 'true' }),
      },
      finalizers: ['kubernetes.io/pv-protection'],
    },
    spec: {
      capacity: { storage: claim.spec.resources?.requests?.['storage'] ?? '1Gi' },
      accessModes: claim.spec.accessModes ?? ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      storageClassName: storageClass.metadata.name,
      volumeMode: 'Filesystem',
      hostPath: { path, type: '' },
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid },
    },
  };
}
