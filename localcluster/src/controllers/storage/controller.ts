/** Provisions claims as directories, binds them, and takes them away again: the default StorageClass `standard`. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AlreadyExistsError, type Manager, NotFoundError } from '@slurm-operator/kube';
import {
  claims,
  type PersistentVolume,
  type PersistentVolumeClaim,
  pods,
  type StorageClass,
  storageClasses,
  volumes,
} from '../../objects/objects.ts';
import { isFinished, isTerminating } from '../../objects/pods.ts';
import { buildVolume, chooseClass, findVolume, provisioner, unboundEvent } from './plan.ts';

const claimProtection = 'kubernetes.io/pvc-protection';
const volumeProtection = 'kubernetes.io/pv-protection';

export function addStorageController(manager: Manager, directory: string): void {
  const { cache, client, recorder, clock } = manager;
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
    .reconcile(async ({ namespace, name }, { signal }) => {
      const claim = cache.get(claims, { namespace, name });
      if (claim === undefined) return;
      if (isTerminating(claim)) return unprotect(claim, signal);
      if (claim.status?.phase === 'Bound') return;
      const wanted = chooseClass(claim, cache.list(storageClasses));
      const ready = findVolume(claim, cache.list(volumes), wanted);
      if (ready !== undefined) return bind(claim, ready, wanted, signal);
      const unbound = unboundEvent(claim, wanted);
      if (unbound?.type === 'Warning') recorder.warning(claim, unbound.reason, unbound.message);
      else if (unbound !== undefined) recorder.normal(claim, unbound.reason, unbound.message);
      if (wanted === undefined || wanted.provisioner !== provisioner) return;
      const left = delayLeft(claim, wanted);
      if (left > 0) {
        recorder.normal(
          claim,
          'ExternalProvisioning',
          `Waiting for a volume to be created by the provisioner '${provisioner}'.`,
        );
        return { requeueAfter: left };
      }
      const volume = buildVolume(claim, wanted, join(directory, `pvc-${claim.metadata.uid}`));
      await mkdir(volume.spec.hostPath.path, { recursive: true, mode: 0o777 });
      const made = await client.create(volumes, volume as never, { signal }).catch((error: unknown) => {
        if (error instanceof AlreadyExistsError) return undefined;
        throw error;
      });
      if (made !== undefined) {
        recorder.normal(
          claim,
          'ProvisioningSucceeded',
          `Successfully provisioned volume ${made.metadata.name}`,
        );
        await bind(claim, made, wanted, signal);
      }
      return;
    });

  /** A class may ask for slowness (`parameters.delaySeconds`): real storage is not always quick. */
  function delayLeft(claim: PersistentVolumeClaim, storageClass: StorageClass): number {
    const seconds = Number(storageClass.parameters?.['delaySeconds'] ?? '0');
    return Date.parse(claim.metadata.creationTimestamp) + seconds * 1000 - clock.now();
  }

  async function bind(
    claim: PersistentVolumeClaim,
    volume: PersistentVolume,
    storageClass: StorageClass | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { namespace, name, uid } = claim.metadata;
    if (volume.spec.claimRef?.uid !== uid)
      await client.mergePatch(
        volumes,
        volume.metadata,
        { spec: { claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid } } },
        { signal },
      );
    await client.mergePatch(
      claims,
      claim.metadata,
      {
        metadata: {
          annotations: {
            'pv.kubernetes.io/bind-completed': 'yes',
            'pv.kubernetes.io/bound-by-controller': 'yes',
          },
        },
        spec: {
          volumeName: volume.metadata.name,
          ...(claim.spec.storageClassName === undefined && storageClass !== undefined
            ? { storageClassName: storageClass.metadata.name }
            : {}),
        },
      },
      { signal },
    );
    await client.mergePatch(
      volumes,
      volume.metadata,
      { status: { phase: 'Bound' } },
      { subresource: 'status', signal },
    );
    await client.mergePatch(
      claims,
      claim.metadata,
      { status: { phase: 'Bound', accessModes: claim.spec.accessModes, capacity: volume.spec.capacity } },
      { subresource: 'status', signal },
    );
  }

  /** A claim that a pod still uses stays until it does not. */
  async function unprotect(claim: PersistentVolumeClaim, signal: AbortSignal): Promise<void> {
    const { namespace, name, finalizers = [] } = claim.metadata;
    const inUse = cache
      .list(pods, { namespace: namespace ?? '' })
      .some(
        (pod) =>
          !isFinished(pod) &&
          (pod.spec.volumes ?? []).some((volume) => volume.persistentVolumeClaim?.claimName === name),
      );
    if (inUse || !finalizers.includes(claimProtection)) return;
    const left = finalizers.filter((entry) => entry !== claimProtection);
    await client.mergePatch(
      claims,
      claim.metadata,
      { metadata: { finalizers: left.length === 0 ? null : left } },
      { signal },
    );
  }

  manager
    .controller('volume-reclaim')
    .for(volumes)
    .watches(claims, (claim) =>
      claim.spec.volumeName === undefined ? [] : [{ name: claim.spec.volumeName }],
    )
    .reconcile(async ({ name }, { signal }) => {
      const volume = cache.get(volumes, { name });
      const owner = volume?.spec.claimRef;
      if (volume === undefined || owner === undefined) return;
      const claim = cache.get(claims, { namespace: owner.namespace, name: owner.name ?? '' });
      if (claim !== undefined && claim.metadata.uid === owner.uid) return;
      // The cache may only be late: ask before anything is destroyed.
      const live = await client.find(
        claims,
        { namespace: owner.namespace, name: owner.name ?? '' },
        { signal },
      );
      if (live !== undefined && live.metadata.uid === owner.uid) return;
      if (volume.spec.persistentVolumeReclaimPolicy !== 'Delete') {
        if (volume.status?.phase !== 'Released')
          await client.mergePatch(
            volumes,
            { name },
            { status: { phase: 'Released' } },
            { subresource: 'status', signal },
          );
        return;
      }
      const path = volume.spec.hostPath?.path;
      if (path !== undefined && path.startsWith(`${directory}/`))
        await rm(path, { recursive: true, force: true });
      const left = (volume.metadata.finalizers ?? []).filter((entry) => entry !== volumeProtection);
      await client
        .mergePatch(
          volumes,
          { name },
          { metadata: { finalizers: left.length === 0 ? null : left } },
          { signal },
        )
        .catch(ignoreMissing);
      await client.delete(volumes, { name }, { uid: volume.metadata.uid, signal });
    });
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof NotFoundError)) throw error;
}
