/** The built-in kinds that are served. */
import type { ServerParts } from '../ports/server-parts.ts';
import {
  allVerbs,
  type PartSubresource,
  type ResourceDefinition,
  type ResourceHooks,
} from '../registry/resource-definition.ts';

/** group/version, plural, kind, short names, then marks: n namespaced, s status subresource, g counts generation, u create on update, a in category all. */
const catalog: readonly (readonly [string, string, string, string, string])[] = [
  ['v1', 'configmaps', 'ConfigMap', 'cm', 'n'],
  ['v1', 'endpoints', 'Endpoints', 'ep', 'nu'],
  ['v1', 'events', 'Event', 'ev', 'nu'],
  ['v1', 'namespaces', 'Namespace', 'ns', 's'],
  ['v1', 'nodes', 'Node', 'no', 's'],
  ['v1', 'persistentvolumeclaims', 'PersistentVolumeClaim', 'pvc', 'ns'],
  ['v1', 'persistentvolumes', 'PersistentVolume', 'pv', 's'],
  ['v1', 'pods', 'Pod', 'po', 'nsga'],
  ['v1', 'resourcequotas', 'ResourceQuota', 'quota', 'ns'],
  ['v1', 'limitranges', 'LimitRange', 'limits', 'nu'],
  ['v1', 'secrets', 'Secret', '', 'n'],
  ['v1', 'serviceaccounts', 'ServiceAccount', 'sa', 'n'],
  ['v1', 'services', 'Service', 'svc', 'nsa'],
  [
    'admissionregistration.k8s.io/v1',
    'mutatingwebhookconfigurations',
    'MutatingWebhookConfiguration',
    '',
    'g',
  ],
  [
    'admissionregistration.k8s.io/v1',
    'validatingwebhookconfigurations',
    'ValidatingWebhookConfiguration',
    '',
    'g',
  ],
  ['apiextensions.k8s.io/v1', 'customresourcedefinitions', 'CustomResourceDefinition', 'crd,crds', 'sg'],
  ['apps/v1', 'controllerrevisions', 'ControllerRevision', '', 'n'],
  ['apps/v1', 'daemonsets', 'DaemonSet', 'ds', 'nsga'],
  ['apps/v1', 'deployments', 'Deployment', 'deploy', 'nsga'],
  ['apps/v1', 'replicasets', 'ReplicaSet', 'rs', 'nsga'],
  ['apps/v1', 'statefulsets', 'StatefulSet', 'sts', 'nsga'],
  ['batch/v1', 'jobs', 'Job', '', 'nsga'],
  ['coordination.k8s.io/v1', 'leases', 'Lease', '', 'nu'],
  ['discovery.k8s.io/v1', 'endpointslices', 'EndpointSlice', '', 'ng'],
  ['events.k8s.io/v1', 'events', 'Event', 'ev', 'nu'],
  ['policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget', 'pdb', 'nsg'],
  ['rbac.authorization.k8s.io/v1', 'clusterrolebindings', 'ClusterRoleBinding', '', 'u'],
  ['rbac.authorization.k8s.io/v1', 'clusterroles', 'ClusterRole', '', 'u'],
  ['rbac.authorization.k8s.io/v1', 'rolebindings', 'RoleBinding', '', 'nu'],
  ['rbac.authorization.k8s.io/v1', 'roles', 'Role', '', 'nu'],
  ['scheduling.k8s.io/v1', 'priorityclasses', 'PriorityClass', 'pc', 'g'],
  ['storage.k8s.io/v1', 'storageclasses', 'StorageClass', 'sc', ''],
];

export function builtinResources(_parts: ServerParts): ResourceDefinition[] {
  return catalog.map(([apiVersion, plural, kind, shortNames, marks]): ResourceDefinition => {
    const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    const mainHooks: ResourceHooks = marks.includes('s') ? { prepareForUpdate: keepStatus } : {};
    return {
      group: group ?? '',
      version: version ?? '',
      plural,
      singular: kind.toLowerCase(),
      kind,
      listKind: `${kind}List`,
      shortNames: shortNames === '' ? [] : shortNames.split(','),
      categories: marks.includes('a') ? ['all'] : [],
      namespaced: marks.includes('n'),
      verbs: allVerbs,
      subresources: marks.includes('s') ? { status: statusPart } : {},
      hooks: mainHooks,
      // Events of both groups are one resource.
      storage: plural === 'events' ? '/events' : `${group}/${plural}`,
      custom: false,
      createOnUpdate: marks.includes('u'),
      countsGeneration: marks.includes('g'),
    };
  });
}

const keepStatus: ResourceHooks['prepareForUpdate'] = (object, old) => {
  if (old['status'] === undefined) delete object['status'];
  else object['status'] = old['status'];
};

const statusPart: PartSubresource = {
  type: 'part',
  verbs: ['get', 'patch', 'update'],
  hooks: {
    prepareForUpdate(object, old) {
      if (old['spec'] === undefined) delete object['spec'];
      else object['spec'] = old['spec'];
    },
  },
};
