/** Informers of the operator: only objects that it needs, and of each only the fields that it reads. */
import { app, label } from '@slurm-operator/api';
import {
  type Cache,
  type ControllerRevision,
  configMaps,
  controllerRevisions,
  type Node,
  nodes,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  pods,
  project,
  secrets,
  type Transform,
} from '@slurm-operator/kube';
import { accounts, digestData, qualitiesOfService } from '../cache/resources.ts';
import { revisionSubstance } from '../kinds/nodeset/objects/revision.ts';
import { trialApp } from '../slurm-config/trial/config-check.ts';

const containerFields = ['name', 'state', 'lastState', 'restartCount'];
const conditionFields = ['type', 'status', 'reason', 'message', 'lastTransitionTime'];
const of = (path: string, fields: readonly string[]) => fields.map((field) => `${path}.${field}`);

export const podFields = project<Pod>({
  keep: [
    'metadata.annotations',
    'spec.nodeName',
    'spec.hostname',
    'spec.hostNetwork',
    'spec.containers.name',
    'spec.containers.image',
    'spec.volumes.persistentVolumeClaim',
    'status.phase',
    'status.podIP',
    'status.message',
    ...of('status.conditions', conditionFields),
    ...of('status.containerStatuses', containerFields),
    ...of('status.initContainerStatuses', containerFields),
  ],
  share: [
    'metadata.annotations',
    'spec.nodeName',
    'spec.containers',
    'spec.volumes',
    'status.phase',
    'status.conditions',
    'status.containerStatuses',
    'status.initContainerStatuses',
  ],
});

export const nodeFields = project<Node>({
  keep: [
    'metadata.annotations',
    'spec.unschedulable',
    'spec.taints',
    ...of('status.conditions', conditionFields),
  ],
  share: ['metadata.annotations', 'spec.taints', 'status.conditions'],
});

export const claimFields = project<PersistentVolumeClaim>({
  keep: [
    'metadata.annotations',
    'spec.resources.requests',
    'status.phase',
    'status.capacity',
    ...of('status.conditions', ['type', 'message']),
  ],
  share: ['spec.resources', 'status.phase', 'status.capacity'],
});

const revisionFields = project<ControllerRevision>({ keep: ['revision'] });

/** What a revision held is on the server; here only matters that there is one, and whether another says the same. */
export const digestRevision: Transform<ControllerRevision> = (revision) => ({
  ...revisionFields(revision),
  data: revisionSubstance(revision.data),
});

/** Before anybody asks for an informer of these: the first options count. */
export function setupCache(cache: Cache): void {
  // Digests only: no secret rests in memory.
  cache.informer(secrets, { transform: digestData });
  cache.informer(configMaps, { transform: digestData });
  const ours = `${label.name} in (${[...Object.values(app), trialApp].join(',')})`;
  cache.informer(pods, { labelSelector: ours, transform: podFields });
  cache.informer(nodes, { transform: nodeFields });
  const ofWorkers = `${label.name}=${app.worker}`;
  const withClaims = `${label.name} in (${app.worker},${app.controller})`;
  cache.informer(persistentVolumeClaims, { labelSelector: withClaims, transform: claimFields });
  // CRDs are upgraded on their own: an operator that is newer than they are works without these kinds.
  cache.informer(qualitiesOfService, { optional: true });
  cache.informer(accounts, { optional: true });
  cache.informer(controllerRevisions, { labelSelector: ofWorkers, transform: digestRevision });
}
