/** Binds claims to volumes, makes the volumes of our own class as directories, and lets claims go that no pod uses. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  AlreadyExistsError,
  draftOf,
  type Manager,
  type ReconcileContext,
  type Request,
  type Result,
} from '@slurm-operator/kube';
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

export class ClaimBinder {
  readonly #manager: Manager;
  readonly #directory: string;

  constructor(manager: Manager, directory: string) {
    this.#manager = manager;
    this.#directory = directory;
  }

  async reconcile({ namespace, name }: Request, { signal }: ReconcileContext): Promise<Result | undefined> {
    const { cache, client, recorder } = this.#manager;
    const claim = cache.get(claims, { namespace, name });
    if (claim === undefined) return;
    if (isTerminating(claim)) {
      await this.#unprotect(claim, signal);
      return;
    }
    if (claim.status?.phase === 'Bound') return;
    const wanted = chooseClass(claim, cache.list(storageClasses));
    const ready = findVolume(claim, cache.list(volumes), wanted);
    if (ready !== undefined) {
      await this.#bind(claim, ready, wanted, signal);
      return;
    }
    const unbound = unboundEvent(claim, wanted);
    if (unbound?.type === 'Warning') recorder.warning(claim, unbound.reason, unbound.message);
    else if (unbound !== undefined) recorder.normal(claim, unbound.reason, unbound.message);
    if (wanted === undefined || wanted.provisioner !== provisioner) return;
    const left = this.#delayLeft(claim, wanted);
    if (left > 0) {
      recorder.normal(
        claim,
        'ExternalProvisioning',
        `Waiting for a volume to be created by the provisioner '${provisioner}'.`,
      );
      return { requeueAfter: left };
    }
    const volume = buildVolume(claim, wanted, join(this.#directory, `pvc-${claim.metadata.uid}`));
    await mkdir(volume.spec.hostPath.path, { recursive: true, mode: 0o777 });
    const made = await client
      .create(volumes, draftOf(volumes, volume), { signal })
      .catch((error: unknown) => {
        if (error instanceof AlreadyExistsError) return undefined;
        throw error;
      });
    if (made !== undefined) {
      recorder.normal(
        claim,
        'ProvisioningSucceeded',
        `Successfully provisioned volume ${made.metadata.name}`,
      );
      await this.#bind(claim, made, wanted, signal);
    }
    return;
  }

  /** A class may ask for slowness (`parameters.delaySeconds`): real storage is not always quick. */
  #delayLeft(claim: PersistentVolumeClaim, storageClass: StorageClass): number {
    const seconds = Number(storageClass.parameters?.['delaySeconds'] ?? '0');
    return Date.parse(claim.metadata.creationTimestamp) + seconds * 1000 - this.#manager.clock.now();
  }

  async #bind(
    claim: PersistentVolumeClaim,
    volume: PersistentVolume,
    storageClass: StorageClass | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { client } = this.#manager;
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
  async #unprotect(claim: PersistentVolumeClaim, signal: AbortSignal): Promise<void> {
    const { cache, client } = this.#manager;
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
}
