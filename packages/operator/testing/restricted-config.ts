/** The operator's own identity in a test: a ServiceAccount that may do exactly what our RBAC rules say. */
import type { ApiServer, AuditEntry } from '@slurm-operator/apiserver';
import {
  type Client,
  type ClusterConfig,
  defineResource,
  type KubeObject,
  kubeconfigConfig,
} from '@slurm-operator/kube';
import type { PolicyRule } from '../src/rbac/rules.ts';

interface Role extends KubeObject {
  rules: readonly PolicyRule[];
}
interface Binding extends KubeObject {
  roleRef: object;
  subjects: readonly object[];
}

const apiVersion = 'rbac.authorization.k8s.io/v1';
const rbacResource = <T extends KubeObject>(kind: string, plural: string, namespaced: boolean) =>
  defineResource<T>({ apiVersion, kind, plural, namespaced });
const roles = rbacResource<Role>('Role', 'roles', true);
const clusterRoles = rbacResource<Role>('ClusterRole', 'clusterroles', false);
const roleBindings = rbacResource<Binding>('RoleBinding', 'rolebindings', true);
const clusterRoleBindings = rbacResource<Binding>('ClusterRoleBinding', 'clusterrolebindings', false);

export interface Grants {
  /** Of the whole cluster. */
  readonly cluster: readonly PolicyRule[];
  /** In single namespaces. */
  readonly namespaces?: Readonly<Record<string, readonly PolicyRule[]>>;
}

/** The user name of a ServiceAccount. */
export const accountName = (account: string, namespace = 'slinky') =>
  `system:serviceaccount:${namespace}:${account}`;

export async function restrictedConfig(
  server: ApiServer,
  admin: Client,
  account: string,
  grants: Grants,
): Promise<ClusterConfig> {
  const name = accountName(account);
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name }];
  const bind = async (kind: 'ClusterRole' | 'Role', rules: readonly PolicyRule[], namespace?: string) => {
    const metadata = { name: account, ...(namespace === undefined ? {} : { namespace }) };
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind, name: account };
    const role = { apiVersion, kind, metadata, rules };
    const binding = { apiVersion, metadata, roleRef, subjects };
    if (kind === 'ClusterRole') {
      await admin.create(clusterRoles, role);
      await admin.create(clusterRoleBindings, { ...binding, kind: 'ClusterRoleBinding' });
    } else {
      await admin.create(roles, role);
      await admin.create(roleBindings, { ...binding, kind: 'RoleBinding' });
    }
  };
  await bind('ClusterRole', grants.cluster);
  for (const [namespace, rules] of Object.entries(grants.namespaces ?? {}))
    await bind('Role', rules, namespace);
  const groups = ['system:serviceaccounts', 'system:serviceaccounts:slinky', 'system:authenticated'];
  return kubeconfigConfig({ text: await server.kubeconfigFor({ name, groups }) });
}

/** What the account was refused, as sentences. */
/** What the API server warned this account of: unknown fields, duplicates, old labels and the like. */
export function warnings(server: ApiServer, account: string): string[] {
  const user = accountName(account);
  const warned = server.audit.find((entry) => entry.user === user && entry.warnings !== undefined);
  return [
    ...new Set(
      warned.flatMap((entry) =>
        (entry.warnings ?? []).map((text) => `${entry.verb} ${entry.resource} ${entry.name}: ${text}`),
      ),
    ),
  ];
}

export function refusals(server: ApiServer, account: string): string[] {
  const user = accountName(account);
  const refused = server.audit.find((entry) => entry.user === user && entry.status === 403);
  return [
    ...new Set(
      refused.map(
        ({ verb, group, resource: what, subresource, namespace }) =>
          `${verb} ${[what, subresource].filter((part) => part !== '').join('/')}${group === '' ? '' : `.${group}`}${namespace === '' ? ' (cluster)' : ` in ${namespace}`}`,
      ),
    ),
  ];
}

/** Permissions as sentences, granted and used, to compare the two. */
const named = (resource: string, group: string) => (group === '' ? resource : `${resource}.${group}`);

/** `verb resource.group` for all that the rules allow. */
export function granted(rules: readonly PolicyRule[]): Set<string> {
  return new Set(
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => `${verb} ${named(resource, group)}`)),
      ),
    ),
  );
}

/** The same for all that an account did. */
export function used(entries: readonly AuditEntry[], account: string): string[] {
  return entries
    .filter(({ user, resource }) => user === accountName(account) && resource !== '')
    .map(({ verb, resource, subresource, group }) =>
      [verb, named(subresource === '' ? resource : `${resource}/${subresource}`, group)].join(' '),
    );
}
