/** Volume claims get the default class of the cluster, and are held while a pod may use them. */

import { Quantity } from '@slurm-operator/kubernetes-values';
import type { IStorageClass } from 'kubernetes-models/storage.k8s.io/v1/StorageClass';
import type { IPersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import { forbidden } from '../../api/errors.ts';
import { typed, typedList } from '../../api/typed.ts';
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

const storageOf = (claim: IPersistentVolumeClaim): Quantity =>
  Quantity.parse(claim.spec?.resources?.requests?.['storage'] ?? 0) ?? Quantity.ZERO;

/** A claim grows only once it is bound, and only where its class says that volumes can. */
export const volumeResize: AdmissionPlugin = {
  name: 'PersistentVolumeClaimResize',
  validate({ operation, definition, subresource, object, oldObject, name }, { parts }) {
    const { group, plural } = definition;
    if (operation !== 'UPDATE' || subresource !== '' || group !== '' || plural !== 'persistentvolumeclaims')
      return;
    const [now, before] = [typed<IPersistentVolumeClaim>(object), typed<IPersistentVolumeClaim>(oldObject)];
    if (!now || !before || storageOf(now).compare(storageOf(before)) <= 0) return;
    const refuse = (why: string) => forbidden({ group, resource: plural }, name, why);
    if (before.status?.phase !== 'Bound') throw refuse('Only bound persistent volume claims can be expanded');
    const className = now.spec?.storageClassName ?? '';
    const classes = typedList<IStorageClass>(parts.store.list('storage.k8s.io/storageclasses'));
    const chosen = classes.find(({ metadata }) => metadata?.name === className);
    if (chosen?.allowVolumeExpansion !== true)
      throw refuse(
        'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
      );
  },
};
