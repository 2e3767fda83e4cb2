/** Volume claims get the default class of the cluster, and are held while a pod may use them. */

import type { IStorageClass } from 'kubernetes-models/storage.k8s.io/v1/StorageClass';
import type { IPersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import { typedList } from '../../api/typed.ts';
import { type AdmissionPlugin, createdObject } from '../plugin.ts';

const IS_DEFAULT = 'storageclass.kubernetes.io/is-default-class';

export const defaultStorageClass: AdmissionPlugin = {
  name: 'DefaultStorageClass',
  mutate(attributes, { parts }) {
    const claim = createdObject(attributes, '', 'persistentvolumeclaims') as
      | IPersistentVolumeClaim
      | undefined;
    if (!claim?.spec || claim.spec.storageClassName !== undefined) return;
    const classes = typedList<IStorageClass>(parts.store.list('storage.k8s.io/storageclasses'));
    const [newest] = classes
      .filter((candidate) => candidate.metadata?.annotations?.[IS_DEFAULT] === 'true')
      .toSorted(
        (a, b) => Number(b.metadata?.resourceVersion ?? 0) - Number(a.metadata?.resourceVersion ?? 0),
      );
    if (newest?.metadata?.name !== undefined) claim.spec.storageClassName = newest.metadata.name;
  },
};

export const storageProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  mutate(attributes) {
    const protect = (plural: string, finalizer: string) => {
      const object = createdObject(attributes, '', plural);
      if (!object || object.metadata.finalizers?.includes(finalizer)) return;
      object.metadata.finalizers = [...(object.metadata.finalizers ?? []), finalizer];
    };
    protect('persistentvolumeclaims', 'kubernetes.io/pvc-protection');
    protect('persistentvolumes', 'kubernetes.io/pv-protection');
  },
};
