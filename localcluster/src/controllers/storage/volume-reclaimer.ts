/** Releases or removes a volume when its claim is gone, with its directory if it is one of ours. */
import { rm } from 'node:fs/promises';
import { type Manager, NotFoundError, type ReconcileContext, type Request } from '@slurm-operator/kube';
import { claims, volumes } from '../../objects/objects.ts';

const volumeProtection = 'kubernetes.io/pv-protection';

export class VolumeReclaimer {
  readonly #manager: Manager;
  readonly #directory: string;

  constructor(manager: Manager, directory: string) {
    this.#manager = manager;
    this.#directory = directory;
  }

  async reconcile({ name }: Request, { signal }: ReconcileContext): Promise<void> {
    const { cache, client } = this.#manager;
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
    if (path !== undefined && path.startsWith(`${this.#directory}/`))
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
  }
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof NotFoundError)) throw error;
}
