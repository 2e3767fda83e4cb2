/** The roles and bindings that every cluster has from the start, as far as charts and people name them. */
import type { PolicyRule } from './policy-rule.ts';

interface BootstrapRole {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly rules: readonly PolicyRule[];
  readonly aggregates?: string;
}

interface BootstrapBinding {
  readonly name: string;
  readonly role: string;
  readonly groups: readonly string[];
}

const read = ['get', 'list', 'watch'];
const write = ['create', 'delete', 'deletecollection', 'patch', 'update'];
const aggregateTo = (role: string) => ({ [`rbac.authorization.k8s.io/aggregate-to-${role}`]: 'true' });
const rule = (apiGroup: string, resources: string, verbs: readonly string[]): PolicyRule => ({
  verbs,
  apiGroups: [apiGroup],
  resources: resources.split(' '),
});

const viewRules: readonly PolicyRule[] = [
  rule(
    '',
    'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status',
    read,
  ),
  rule(
    '',
    'bindings events limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status namespaces',
    read,
  ),
  rule('discovery.k8s.io', 'endpointslices', read),
  rule(
    'apps',
    'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
    read,
  ),
  rule('autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status', read),
  rule('batch', 'cronjobs cronjobs/status jobs jobs/status', read),
  rule('policy', 'poddisruptionbudgets poddisruptionbudgets/status', read),
  rule('networking.k8s.io', 'ingresses ingresses/status networkpolicies', read),
];

const editRules: readonly PolicyRule[] = [
  rule('', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy', read),
  rule('', 'serviceaccounts', ['impersonate']),
  rule('', 'pods pods/attach pods/exec pods/portforward pods/proxy', write),
  rule('', 'pods/eviction', ['create']),
  rule(
    '',
    'configmaps events persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy',
    write,
  ),
  rule('', 'serviceaccounts/token', ['create']),
  rule(
    'apps',
    'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale',
    write,
  ),
  rule('autoscaling', 'horizontalpodautoscalers', write),
  rule('batch', 'cronjobs jobs', write),
  rule('policy', 'poddisruptionbudgets', write),
  rule('networking.k8s.io', 'ingresses networkpolicies', write),
  rule('coordination.k8s.io', 'leases', [...write, ...read]),
];

const adminRules: readonly PolicyRule[] = [
  rule('authorization.k8s.io', 'localsubjectaccessreviews', ['create']),
  rule('rbac.authorization.k8s.io', 'rolebindings roles', [...write, ...read]),
];

const publicPaths = ['/healthz', '/livez', '/readyz', '/version', '/version/'];

export const bootstrapRoles: readonly BootstrapRole[] = [
  {
    name: 'cluster-admin',
    rules: [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['*'], nonResourceURLs: ['*'] },
    ],
  },
  {
    name: 'system:discovery',
    rules: [
      {
        verbs: ['get'],
        nonResourceURLs: [
          '/api',
          '/api/*',
          '/apis',
          '/apis/*',
          '/healthz',
          '/livez',
          '/openapi',
          '/openapi/*',
          '/readyz',
          '/version',
          '/version/',
        ],
      },
    ],
  },
  { name: 'system:public-info-viewer', rules: [{ verbs: ['get'], nonResourceURLs: publicPaths }] },
  {
    name: 'system:basic-user',
    rules: [
      rule('authorization.k8s.io', 'selfsubjectaccessreviews selfsubjectrulesreviews', ['create']),
      rule('authentication.k8s.io', 'selfsubjectreviews', ['create']),
    ],
  },
  {
    name: 'system:auth-delegator',
    rules: [
      rule('authentication.k8s.io', 'tokenreviews', ['create']),
      rule('authorization.k8s.io', 'subjectaccessreviews', ['create']),
    ],
  },
  {
    name: 'system:monitoring',
    rules: [
      {
        verbs: ['get'],
        nonResourceURLs: [
          '/healthz',
          '/healthz/*',
          '/livez',
          '/livez/*',
          '/metrics',
          '/metrics/slis',
          '/readyz',
          '/readyz/*',
        ],
      },
    ],
  },
  { name: 'admin', rules: [], aggregates: 'admin' },
  { name: 'edit', rules: [], aggregates: 'edit', labels: aggregateTo('admin') },
  { name: 'view', rules: [], aggregates: 'view', labels: aggregateTo('edit') },
  { name: 'system:aggregate-to-admin', rules: adminRules, labels: aggregateTo('admin') },
  { name: 'system:aggregate-to-edit', rules: editRules, labels: aggregateTo('edit') },
  { name: 'system:aggregate-to-view', rules: viewRules, labels: aggregateTo('view') },
];

export const bootstrapBindings: readonly BootstrapBinding[] = [
  { name: 'cluster-admin', role: 'cluster-admin', groups: ['system:masters'] },
  { name: 'system:discovery', role: 'system:discovery', groups: ['system:authenticated'] },
  { name: 'system:basic-user', role: 'system:basic-user', groups: ['system:authenticated'] },
  {
    name: 'system:public-info-viewer',
    role: 'system:public-info-viewer',
    groups: ['system:authenticated', 'system:unauthenticated'],
  },
  { name: 'system:monitoring', role: 'system:monitoring', groups: ['system:monitoring'] },
];

const GROUP = 'rbac.authorization.k8s.io';
const BOOTSTRAPPING = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };

/** The objects to store, without what every stored object gets (uid, times). */
export function bootstrapRbacObjects(): {
  readonly resource: string;
  readonly object: Record<string, unknown>;
}[] {
  const roles = bootstrapRoles.map(({ name, labels, rules, aggregates }) => ({
    resource: `${GROUP}/clusterroles`,
    object: {
      kind: 'ClusterRole',
      apiVersion: `${GROUP}/v1`,
      metadata: { name, labels: { ...BOOTSTRAPPING, ...labels } },
      rules: aggregates === undefined ? rules : null,
      ...(aggregates === undefined
        ? {}
        : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: aggregateTo(aggregates) }] } }),
    },
  }));
  const bindings = bootstrapBindings.map(({ name, role, groups }) => ({
    resource: `${GROUP}/clusterrolebindings`,
    object: {
      kind: 'ClusterRoleBinding',
      apiVersion: `${GROUP}/v1`,
      metadata: { name, labels: BOOTSTRAPPING },
      subjects: groups.map((group) => ({ kind: 'Group', apiGroup: GROUP, name: group })),
      roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: role },
    },
  }));
  return [...roles, ...bindings];
}
