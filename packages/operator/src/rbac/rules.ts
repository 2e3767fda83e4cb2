/**
 * What the programs may do, and no more. Each rule was derived from the audit log of what the code really asks for; a
 * test runs the controllers with exactly these, fails on a refusal, and fails on a permission that nothing uses.
 */
import { accountKind, group, kinds, qualityOfServiceKind, tokenExchange } from '@slurm-operator/api';

export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

const rule = (apiGroup: string, resources: readonly string[], verbs: readonly string[]): PolicyRule => ({
  apiGroups: [apiGroup],
  resources,
  verbs,
});

const follow = ['list', 'watch'];
/** An apply is a patch, and a create where there is nothing yet. */
const own = [...follow, 'create', 'patch'];

const plurals = kinds.map(({ plural }) => plural).toSorted();
/** Kinds whose objects own others: the rest declare rows of Slurm. */
const rowKinds = new Set<string>([qualityOfServiceKind.plural, accountKind.plural]);
const owners = plurals.filter((plural) => !rowKinds.has(plural));

/** In every namespace with Slurm clusters. */
export const managerNamespaceRules: readonly PolicyRule[] = [
  rule('', ['configmaps'], ['get', ...own]),
  rule('', ['persistentvolumeclaims'], [...own, 'delete']),
  rule('', ['pods'], [...own, 'delete']),
  // While slurm.key changes: workers say in their log which keys they have read.
  rule('', ['pods/log'], ['get']),
  rule('', ['pods/status'], ['patch']),
  rule('', ['secrets'], ['get', ...own, 'delete']),
  rule('', ['services'], own),
  rule('apps', ['controllerrevisions'], [...own, 'delete']),
  rule('apps', ['deployments'], own),
  // Deleted only to be made again, without its pods, where upstream's operator fixed it otherwise.
  rule('apps', ['statefulsets'], [...own, 'delete']),
  rule('events.k8s.io', ['events'], ['create', 'patch']),
  // Never watched: the kind may not exist.
  rule('monitoring.coreos.com', ['servicemonitors'], ['get', 'create', 'patch', 'delete']),
  rule('policy', ['poddisruptionbudgets'], own),
  rule(group, plurals, follow),
  rule(group, ['clusters'], ['create', 'patch']),
  // Their finalizers.
  rule(group, ['accounts', 'nodesets', 'qualityofservices'], ['patch']),
  rule(
    group,
    plurals.map((kind) => `${kind}/status`),
    ['patch'],
  ),
  // Clusters with OwnerReferencesPermissionEnforcement require this of a client that sets blockOwnerDeletion.
  rule(
    group,
    owners.map((kind) => `${kind}/finalizers`),
    ['update'],
  ),
];

/** Of the whole cluster: machines are read, never written. */
export const managerClusterRules: readonly PolicyRule[] = [rule('', ['nodes'], ['list', 'watch'])];

/**
 * With `--namespaces`, of the whole cluster: a namespace that is deleted takes the role in it along, perhaps before its NodeSets, whose
 * finalizers must still be removed. The chart limits the patch to the same namespaces by a ValidatingAdmissionPolicy.
 */
export const endingNamespaceRules = (watched: readonly string[]): readonly PolicyRule[] => [
  { ...rule('', ['namespaces'], ['get']), resourceNames: watched },
  rule(group, ['nodesets'], ['patch']),
];

/** In the namespace of the program: its lease. */
export const leaseRules: readonly PolicyRule[] = [
  rule('coordination.k8s.io', ['leases'], ['get', 'create', 'update']),
];

/** In the namespace of the program, where nothing else grants it: whether a drain waits for this replica. */
export const replicaRules: readonly PolicyRule[] = [rule('', ['pods'], ['list'])];

/** With `--metrics-secure`: ask who reads metrics, and whether they may. */
export const reviewRules: readonly PolicyRule[] = [
  rule('authentication.k8s.io', ['tokenreviews'], ['create']),
  rule('authorization.k8s.io', ['subjectaccessreviews'], ['create']),
];

/** With `--token-exchange-addr`, in the namespace of the program: its certificate, and the ConfigMap that names the authority. */
export const exchangeNamespaceRules: readonly PolicyRule[] = [
  rule('', ['configmaps', 'secrets'], ['create']),
  { ...rule('', ['secrets'], ['get', 'update']), resourceNames: [tokenExchange.name] },
  { ...rule('', ['configmaps'], ['patch']), resourceNames: [tokenExchange.name] },
];

/** For people, in the namespace of the program: the way to the exchange. */
export const exchangeClientRules: readonly PolicyRule[] = [
  { ...rule('', ['configmaps'], ['get']), resourceNames: [tokenExchange.name] },
  rule('', ['pods'], ['list']),
  rule('', ['pods/portforward'], ['create', 'get']),
];

/** The dashboard, in every namespace that it shows: it reads, and never a Secret. */
export const dashboardNamespaceRules: readonly PolicyRule[] = [
  // slurm.conf, and templates of jobs.
  rule('', ['configmaps'], ['get', 'list']),
  rule('', ['pods'], follow),
  // When a rollout ends, by the operator's own plan.
  rule('apps', ['controllerrevisions'], follow),
  rule('events.k8s.io', ['events'], follow),
  rule(group, ['clusters', 'controllers', 'nodesets', 'restapis'], follow),
  // Slurm tokens of an account that owns nothing, to read nodes and jobs with.
  rule(group, ['clusters/view'], ['create']),
];

/** The dashboard behind a proxy, where it acts for the people whom the proxy has logged in. Slurm tokens only, nothing of Kubernetes. */
export const dashboardProxyRules: readonly PolicyRule[] = [rule(group, ['clusters/users'], ['impersonate'])];

/** The dashboard, of the whole cluster: which nodes take workers. */
export const dashboardClusterRules: readonly PolicyRule[] = [rule('', ['nodes'], follow)];

/** The dashboard, in the namespace of the manager: the way to the token exchange. */
export const dashboardExchangeRules: readonly PolicyRule[] = [
  { ...rule('', ['configmaps'], ['get']), resourceNames: [tokenExchange.name] },
  rule('', ['pods'], ['list']),
];

/** In every namespace whose objects are reviewed. */
export const webhookNamespaceRules: readonly PolicyRule[] = [
  rule('', ['configmaps', 'persistentvolumeclaims'], ['get']),
  rule(group, ['controllers'], ['get']),
  rule(group, ['nodesets'], ['list']),
  rule('', ['pods'], ['list']),
];

/** The webhook, of the whole cluster: whether its node is drained, and whether there is another one. */
export const webhookClusterRules: readonly PolicyRule[] = [rule('', ['nodes'], ['list'])];

/** With the pods/binding webhook on: in every namespace with workers. */
export const bindingNamespaceRules: readonly PolicyRule[] = [rule('', ['pods'], ['get', 'patch'])];
export const bindingClusterRules: readonly PolicyRule[] = [rule('', ['nodes'], ['get'])];

export interface CertificateNames {
  readonly secret: string;
  readonly validating: string;
  readonly mutating?: string;
}

/** With certificates of our own making, in the namespace of the program. A name cannot limit a create. */
export const certificateNamespaceRules = ({
  secret,
}: Pick<CertificateNames, 'secret'>): readonly PolicyRule[] => [
  rule('', ['secrets'], ['create']),
  { ...rule('', ['secrets'], ['get', 'update']), resourceNames: [secret] },
];

/** The same, of the whole cluster: our authority is told to the API server in our own configurations only. */
export const certificateClusterRules = ({
  validating,
  mutating,
}: Omit<CertificateNames, 'secret'>): readonly PolicyRule[] => [
  {
    ...rule('admissionregistration.k8s.io', ['validatingwebhookconfigurations'], ['get', 'patch']),
    resourceNames: [validating],
  },
  ...(mutating === undefined
    ? []
    : [
        {
          ...rule('admissionregistration.k8s.io', ['mutatingwebhookconfigurations'], ['get', 'patch']),
          resourceNames: [mutating],
        },
      ]),
];

const read = ['get', 'list', 'watch'];
const write = ['create', 'delete', 'deletecollection', 'patch', 'update'];
const scalable = ['loginsets/scale', 'nodesets/scale'];
const statuses = plurals.map((kind) => `${kind}/status`);

/**
 * Roles for people. A viewer looks; a user also scales and rolls what is there (workers and logins); an admin makes and
 * removes clusters. They are added to the view, edit and admin roles that every cluster has.
 */
export const peopleRules: Readonly<Record<'viewer' | 'user' | 'admin', readonly PolicyRule[]>> = {
  viewer: [rule(group, [...plurals, ...statuses, ...scalable], read)],
  user: [
    rule(group, [...plurals, ...statuses, ...scalable], read),
    rule(group, ['loginsets', 'nodesets', ...scalable], ['patch', 'update']),
    rule(group, ['tokens'], write),
  ],
  admin: [rule(group, [...plurals, ...scalable], [...read, ...write]), rule(group, statuses, read)],
};
