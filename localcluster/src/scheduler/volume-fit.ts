/** Whether a pod's claims allow it to be placed, and where. */
import { termMatches } from '@slurm-operator/kube';
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '../objects/objects.ts';

export interface ClaimSource {
  readonly claim: (name: string) => PersistentVolumeClaim | undefined;
  readonly volume: (name: string) => PersistentVolume | undefined;
}

export interface ClaimFit {
  /** Why the pod can go nowhere yet. */
  readonly why?: string;
  readonly onNode: (node: Node) => string | undefined;
}

export function claimObstacle(pod: Pod, source: ClaimSource): ClaimFit {
  const bound: PersistentVolume[] = [];
  for (const volume of pod.spec.volumes ?? []) {
    const name = volume.persistentVolumeClaim?.claimName;
    if (name === undefined) continue;
    const claim = source.claim(name);
    if (claim === undefined)
      return { why: `persistentvolumeclaim "${name}" not found`, onNode: () => undefined };
    if (claim.metadata.deletionTimestamp !== undefined)
      return { why: `persistentvolumeclaim "${name}" is being deleted`, onNode: () => undefined };
    const target = claim.spec.volumeName;
    if (target === undefined || target === '' || claim.status?.phase !== 'Bound')
      return { why: 'pod has unbound immediate PersistentVolumeClaims', onNode: () => undefined };
    const found = source.volume(target);
    if (found !== undefined) bound.push(found);
  }
  return {
    onNode: (node) =>
      bound.every((volume) => {
        const terms = volume.spec.nodeAffinity?.required?.nodeSelectorTerms;
        return terms === undefined || terms.some((term) => termMatches(term, node));
      })
        ? undefined
        : 'node(s) had volume node affinity conflict',
  };
}
