/** Who logs in to the dashboard of the demo: service accounts, each with a Linux account of the same name in Slurm. */
import { group } from '@slurm-operator/api';
import { demoNamespace } from './names.ts';

/** What Kubernetes puts before the name of a service account of the demo. */
const userPrefix = `system:serviceaccount:${demoNamespace}:`;

/** As in the images, and two people. */
export const passwd = `root:x:0:0:root:/root:/bin/bash
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
_apt:x:42:65534::/nonexistent:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
slurm:x:401:401::/var/lib/slurm:/usr/sbin/nologin
slurmrestd:x:402:402::/nonexistent:/usr/sbin/nologin
sshd:x:997:65534:sshd user:/run/sshd:/usr/sbin/nologin
sssd:x:101:101:SSSD system user:/var/lib/sss:/usr/sbin/nologin
alice:x:5001:5001:Alice:/tmp:/bin/sh
bob:x:5002:5002:Bob:/tmp:/bin/sh
`;

const rule = (resources: readonly string[], verbs: readonly string[]) => ({
  apiGroups: [group],
  resources,
  verbs,
});

const userRules = [
  rule(['clusters', 'controllers', 'nodesets'], ['get', 'list']),
  rule(['clusters/jobs'], ['list', 'create', 'update', 'delete']),
];

const roles = {
  user: userRules,
  admin: [...userRules, rule(['clusters/nodes'], ['create', 'update']), rule(['nodesets'], ['patch'])],
} as const;

/** Alice and Bob use the cluster; root runs it. */
const people = { alice: 'user', bob: 'user', root: 'admin' } as const;

const rbac = 'rbac.authorization.k8s.io';
const metadata = (name: string) => ({ name, namespace: demoNamespace });

export const peopleObjects: readonly object[] = [
  ...Object.entries(roles).map(([name, rules]) => ({
    apiVersion: `${rbac}/v1`,
    kind: 'Role',
    metadata: metadata(`demo-${name}`),
    rules,
  })),
  ...Object.entries(people).flatMap(([name, role]) => [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: metadata(name) },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: metadata(`demo-${name}`),
      roleRef: { apiGroup: rbac, kind: 'Role', name: `demo-${role}` },
      subjects: [{ kind: 'ServiceAccount', ...metadata(name) }],
    },
  ]),
];

/** The operator's chart: with the exchange that gives people tokens of Slurm, and the dashboard, which browsers reach through a port-forward. */
export const operatorValues = (registry: string): object => ({
  registry,
  operator: { tokenExchange: { enabled: true, userPrefix } },
  dashboard: { enabled: true, secureCookies: false },
});
