/** The claims that a worker mounts, one per claim template. */
import type { NodeSet } from '@slurm-operator/api';
import type { IPersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import { claimSlotAnnotation } from '../annotations.ts';
import { type Slot, slotKey } from '../plan/observed.ts';
import { claimName } from './worker-pod.ts';
import { workerSelector } from './worker-template.ts';

export function workerClaims(nodeSet: NodeSet, slot: Slot, hostname: string): IPersistentVolumeClaim[] {
  const { name, namespace, uid } = nodeSet.metadata;
  const owned = nodeSet.spec.persistentVolumeClaimRetentionPolicy.whenDeleted === 'Delete';
  return (nodeSet.spec.volumeClaimTemplates ?? []).map((template) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: claimName(template.metadata?.name ?? '', nodeSet, slot, hostname),
      namespace,
      labels: { ...template.metadata?.labels, ...workerSelector(nodeSet) },
      annotations: { ...template.metadata?.annotations, [claimSlotAnnotation]: slotKey(slot) },
      ...(owned
        ? { ownerReferences: [{ apiVersion: nodeSet.apiVersion, kind: nodeSet.kind, name, uid: uid ?? '' }] }
        : {}),
    },
    ...(template.spec === undefined ? {} : { spec: template.spec }),
  }));
}
