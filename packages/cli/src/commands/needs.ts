/** Permissions that several commands share. */
import { group } from '@slurm-operator/api';
import type { Need } from '../command-line/command.ts';

const core = '';
const read = ['get', 'list'] as const;

const ours = (resource: string, verbs: readonly string[] = read): Need => ({ group, resource, verbs });

export const readClusters: readonly Need[] = [ours('clusters')];
export const readObjects: readonly Need[] = [
  ...['accountings', 'clusters', 'controllers', 'loginsets', 'nodesets', 'restapis', 'tokens'].map((one) =>
    ours(one),
  ),
  { group: core, resource: 'pods', verbs: ['list'] },
];
/** Whether an operator runs. */
export const readOperator: readonly Need[] = [
  { group: 'apps', resource: 'deployments', verbs: ['list'], clusterWide: true },
  { group: 'coordination.k8s.io', resource: 'leases', verbs: ['list'], clusterWide: true },
];
export const readEvidence: readonly Need[] = [
  ...readObjects,
  { group: core, resource: 'persistentvolumeclaims', verbs: ['list'] },
  { group: 'events.k8s.io', resource: 'events', verbs: ['list'] },
  { group: 'networking.k8s.io', resource: 'networkpolicies', verbs: ['list'] },
  { group: core, resource: 'pods/log', verbs: ['get'] },
  { group: core, resource: 'nodes', verbs: ['list'], clusterWide: true },
  { group: core, resource: 'namespaces', verbs: ['get'], clusterWide: true },
  { group: 'storage.k8s.io', resource: 'storageclasses', verbs: ['list'], clusterWide: true },
  ...readOperator,
  {
    group: 'apiextensions.k8s.io',
    resource: 'customresourcedefinitions',
    verbs: ['list'],
    clusterWide: true,
  },
];
/** The way to slurmrestd. A token comes from $SLURM_JWT, from the token exchange, or from the Secret that administrators may read. */
export const reachSlurm: readonly Need[] = [
  ...readClusters,
  ours('restapis'),
  ours('controllers'),
  { group: core, resource: 'pods', verbs: ['list'] },
  { group: core, resource: 'pods/portforward', verbs: ['create', 'get'] },
];
export const readLogs: readonly Need[] = [
  ...readClusters,
  { group: core, resource: 'pods', verbs: ['list'] },
  { group: core, resource: 'pods/log', verbs: ['get'] },
];
export const execInPods: readonly Need[] = [
  ...readClusters,
  { group: core, resource: 'pods', verbs: ['list'] },
  { group: core, resource: 'pods/exec', verbs: ['create', 'get'] },
];
export const writeNodeSets: readonly Need[] = [
  ...readObjects,
  ours('nodesets', ['get', 'list', 'patch']),
  { group: 'apps', resource: 'controllerrevisions', verbs: ['list'] },
];
/** What the operator's own plan looks at. The ConfigMap is that of the cluster, with slurm.conf. */
export const readDryRun: readonly Need[] = [
  ...readObjects,
  { group: core, resource: 'configmaps', verbs: ['get'] },
  { group: core, resource: 'persistentvolumeclaims', verbs: ['list'] },
  { group: core, resource: 'nodes', verbs: ['list'], clusterWide: true },
  { group: 'apps', resource: 'controllerrevisions', verbs: ['list'] },
  { group: 'apps', resource: 'statefulsets', verbs: ['list'] },
];
/** A configuration is tried in a pod, which is removed again with its ConfigMap. */
export const tryInPod: readonly Need[] = [
  { group: core, resource: 'pods', verbs: ['create', 'delete', 'get'] },
  { group: core, resource: 'configmaps', verbs: ['create', 'delete'] },
];
/** A server-side dry run needs the right to make the change. */
export const tryChanges: readonly Need[] = [
  ...readDryRun,
  ...['accountings', 'clusters', 'controllers', 'loginsets', 'nodesets', 'restapis', 'tokens'].map((one) =>
    ours(one, ['create', 'get', 'list', 'patch']),
  ),
];
