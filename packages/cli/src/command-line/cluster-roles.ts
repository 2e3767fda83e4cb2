/** The ClusterRoles that the commands need: viewer ⊂ user ⊂ admin. Pure. */
import { group } from '@slurm-operator/api';
import type { Command, Need, Role } from './command.ts';

export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const order: readonly Role[] = ['viewer', 'user', 'admin'];

/** Virtual subresources: a user who may create them gets a Slurm token from the token exchange, as themselves or as an administrator. */
const exchanges = (scope: 'jobs' | 'nodes'): Need => ({
  group,
  resource: `clusters/${scope}`,
  verbs: ['create'],
});

/** Administrators may read the JWT key, and so act as any Slurm user. */
const beyondCommands: Readonly<Record<Role, readonly Need[]>> = {
  viewer: [],
  user: [exchanges('jobs')],
  admin: [exchanges('jobs'), exchanges('nodes'), { group: '', resource: 'secrets', verbs: ['get'] }],
};

export function rulesOf(role: Role, commands: readonly Command[]): readonly PolicyRule[] {
  const rank = order.indexOf(role);
  const needs = [
    ...commands
      .filter((command) => order.indexOf(command.role) <= rank)
      .flatMap((command) => needsAs(command, role)),
    ...beyondCommands[role],
  ];
  const verbs = new Map<string, Set<string>>();
  for (const { group: of, resource, verbs: wanted } of needs) {
    const key = `${of}|${resource}`;
    verbs.set(key, new Set([...(verbs.get(key) ?? []), ...wanted]));
  }
  // One rule for all resources of a group with the same verbs.
  const byVerbs = Map.groupBy(
    verbs,
    ([key, mine]) => `${key.split('|')[0]}|${[...mine].toSorted().join(',')}`,
  );
  return [...byVerbs]
    .map(([key, mine]) => {
      const [of = '', list = ''] = key.split('|');
      return {
        apiGroups: [of],
        resources: mine.map(([each]) => each.split('|')[1] ?? '').toSorted(),
        verbs: list.split(','),
      };
    })
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** A command that shows more with Slurm needs no way to Slurm from a viewer. */
function needsAs({ needs, slurm, role: own }: Command, role: Role): readonly Need[] {
  return slurm === 'optional' && own === 'viewer' && role === 'viewer'
    ? needs.filter(({ resource }) => resource !== 'pods/portforward')
    : needs;
}

export function clusterRoles(commands: readonly Command[]): readonly object[] {
  return order.map((role) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: `slurm-${role}`, labels: { 'app.kubernetes.io/part-of': 'slurm-operator' } },
    rules: rulesOf(role, commands),
  }));
}
