/** Storage: the default StorageClass `standard`, whose claims are directories of this machine. */
import type { Manager } from '@slurm-operator/kube';
import { claims, pods, storageClasses, volumes } from '../../objects/objects.ts';
import { ClaimBinder } from './claim-binder.ts';
import { VolumeReclaimer } from './volume-reclaimer.ts';

export function addStorageController(manager: Manager, directory: string): void {
  const { cache } = manager;
  const binder = new ClaimBinder(manager, directory);
  const reclaimer = new VolumeReclaimer(manager, directory);
  cache.informer(storageClasses);
  manager
    .controller('storage')
    .for(claims)
    .watches(volumes, (volume) =>
      volume.spec.claimRef === undefined
        ? []
        : [{ namespace: volume.spec.claimRef.namespace, name: volume.spec.claimRef.name ?? '' }],
    )
    .watches(storageClasses, () =>
      cache
        .list(claims)
        .filter((claim) => claim.status?.phase !== 'Bound')
        .map((claim) => claim.metadata),
    )
    .watches(pods, (pod) =>
      (pod.spec.volumes ?? []).flatMap((volume) => {
        const name = volume.persistentVolumeClaim?.claimName;
        return name === undefined ? [] : [{ namespace: pod.metadata.namespace, name }];
      }),
    )
    .reconcile((request, context) => binder.reconcile(request, context));

  manager
    .controller('volume-reclaim')
    .for(volumes)
    .watches(claims, (claim) =>
      claim.spec.volumeName === undefined ? [] : [{ name: claim.spec.volumeName }],
    )
    .reconcile((request, context) => reclaimer.reconcile(request, context));
}
