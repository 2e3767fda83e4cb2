/** One worker: the template, put into a slot. */
import { annotation, label, type NodeSet } from '@slurm-operator/api';
import type { IPersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import type { IPod } from 'kubernetes-models/v1/Pod';
import { claimSlotAnnotation, targetNodeAnnotation, wakeUpAnnotation } from '../annotations.ts';
import { modeTolerations } from './worker-placement.ts';
import { type WorkerTemplate, workerSelector } from './worker-template.ts';

/** Where a worker belongs: an ordinal, or a Kubernetes Node. Equal slots have equal keys. */
export type Slot =
  | { readonly mode: 'StatefulSet'; readonly ordinal: number }
  | { readonly mode: 'DaemonSet'; readonly nodeName: string };

export function slotKey(slot: Slot): string {
  return slot.mode === 'StatefulSet' ? `ordinal/${slot.ordinal}` : `node/${slot.nodeName}`;
}

export interface WorkerIdentity {
  readonly slot: Slot;
  /** Its host name, which is the name of its Slurm node. */
  readonly hostname: string;
  readonly revision: string;
  /** Digests of what it is started with, as annotations. */
  readonly hashes: Readonly<Record<string, string>>;
  /** StatefulSet mode with pinToNode: the machine that this ordinal returns to. */
  readonly pinnedTo: string | undefined;
  /** A job may wait for it. */
  readonly forWakeUp?: boolean | undefined;
}

export function paddedOrdinal(nodeSet: NodeSet, ordinal: number): string {
  return String(ordinal).padStart(nodeSet.spec.ordinalPadding, '0');
}

/** What the host names (and Slurm names) of StatefulSet-mode workers begin with; the padded ordinal follows. */
export function hostnamePrefix(nodeSet: NodeSet): string {
  return nodeSet.spec.template?.spec?.hostname || `${nodeSet.metadata.name}-`;
}

export function claimName(template: string, nodeSet: NodeSet, slot: Slot, hostname: string): string {
  const end = slot.mode === 'StatefulSet' ? paddedOrdinal(nodeSet, slot.ordinal) : hostname;
  return `${template}-${nodeSet.metadata.name}-${end}`;
}

export function workerPod(nodeSet: NodeSet, template: WorkerTemplate, identity: WorkerIdentity): IPod {
  const { slot, hostname, revision, hashes, pinnedTo, forWakeUp } = identity;
  const { name, namespace, uid } = nodeSet.metadata;
  const node = slot.mode === 'DaemonSet' ? slot.nodeName : pinnedTo;
  const podName = slot.mode === 'StatefulSet' ? `${name}-${paddedOrdinal(nodeSet, slot.ordinal)}` : undefined;
  const claims = nodeSet.spec.volumeClaimTemplates ?? [];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...(podName === undefined ? { generateName: `${name}-` } : { name: podName }),
      namespace,
      labels: {
        ...template.labels,
        [label.podHostname]: hostname,
        [label.scalingMode]: slot.mode,
        [label.revision]: revision,
        ...(slot.mode === 'StatefulSet'
          ? { [label.podIndex]: paddedOrdinal(nodeSet, slot.ordinal), [label.podName]: podName ?? '' }
          : {}),
      },
      annotations: {
        ...(nodeSet.spec.autoscale === undefined ? {} : keptByAutoscalers),
        ...(forWakeUp ? { [wakeUpAnnotation]: 'true' } : {}),
        ...template.annotations,
        ...hashes,
        // The plan needs to know where a pod belongs even before it is scheduled.
        ...(slot.mode === 'DaemonSet' ? { [targetNodeAnnotation]: slot.nodeName } : {}),
        [annotation.topology]: '',
      },
      ownerReferences: [
        {
          apiVersion: nodeSet.apiVersion,
          kind: nodeSet.kind,
          name,
          uid: uid ?? '',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      ...template.spec,
      // A host name has no dots; one of a machine may have them.
      hostname: template.spec.hostNetwork ? (hostname.split('.')[0] ?? hostname) : hostname,
      tolerations: [...(template.spec.tolerations ?? []), ...modeTolerations(nodeSet)],
      volumes: [
        ...(template.spec.volumes ?? []).filter(
          (volume) => !claims.some((claim) => claim.metadata?.name === volume.name),
        ),
        ...claims.map((claim) => {
          const volume = claim.metadata?.name ?? '';
          return {
            name: volume,
            persistentVolumeClaim: { claimName: claimName(volume, nodeSet, slot, hostname) },
          };
        }),
      ],
      ...(node === undefined ? {} : { affinity: pinned(template.spec.affinity, node) }),
    },
  };
}

/** Slurm decides which workers of an autoscaled NodeSet run: the autoscaler of the machines must not, even while one is idle. */
const keptByAutoscalers = {
  'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
  'karpenter.sh/do-not-disrupt': 'true',
};

type Affinity = NonNullable<IPod['spec']>['affinity'];

/** By affinity and not by nodeName, so that the scheduler still minds resources and priorities. */
function pinned(affinity: Affinity, node: string): Affinity {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
    ?.nodeSelectorTerms ?? [{}];
  const field = { key: 'metadata.name', operator: 'In' as const, values: [node] };
  return {
    ...affinity,
    nodeAffinity: {
      ...affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: required.map((term) => ({
          ...term,
          matchFields: [...(term.matchFields ?? []), field],
        })),
      },
    },
  };
}

/** The claims that a worker mounts, one per claim template. */
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
