/** The rules as Kubernetes objects: for the whole cluster, or for some namespaces only. */
import type { PolicyRule } from './rules.ts';

const apiVersion = 'rbac.authorization.k8s.io/v1';
const apiGroup = 'rbac.authorization.k8s.io';

export interface Account {
  readonly name: string;
  readonly namespace: string;
}

/** One permission set: which rules hold where. */
export interface Grant {
  /** Of the role and its binding. */
  readonly name: string;
  readonly rules: readonly PolicyRule[];
  /** Absent: in the whole cluster. */
  readonly namespace?: string;
}

/** A role and its binding for each grant. */
export function grantObjects(account: Account, grants: readonly Grant[]): object[] {
  return grants.flatMap(({ name, rules, namespace }) => {
    const kind = namespace === undefined ? 'ClusterRole' : 'Role';
    const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
    return [
      { apiVersion, kind, metadata, rules },
      {
        apiVersion,
        kind: `${kind}Binding`,
        metadata,
        roleRef: { apiGroup, kind, name },
        subjects: [{ kind: 'ServiceAccount', ...account }],
      },
    ];
  });
}

/** The roles that every cluster has, which ours are added to. */
const builtIn = { viewer: 'view', user: 'edit', admin: 'admin' } as const;

export function personRole(
  prefix: string,
  person: 'viewer' | 'user' | 'admin',
  rules: readonly PolicyRule[],
): object {
  return {
    apiVersion,
    kind: 'ClusterRole',
    metadata: {
      name: `${prefix}-${person}`,
      labels: { [`rbac.authorization.k8s.io/aggregate-to-${builtIn[person]}`]: 'true' },
    },
    rules,
  };
}
