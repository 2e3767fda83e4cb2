/** The operator of a stage has the permissions of an installation; a stage fails if it tried to use more. */
import type { ApiServer } from '@slurm-operator/apiserver';
import type { Client } from '@slurm-operator/kube';
import { grantObjects, managerClusterRules, managerNamespaceRules } from '@slurm-operator/operator';

const account = { name: 'slurm-operator', namespace: 'slinky' };
const groups = [
  'system:serviceaccounts',
  `system:serviceaccounts:${account.namespace}`,
  'system:authenticated',
];

/** As the API server names it. */
export const operatorUser = `system:serviceaccount:${account.namespace}:${account.name}`;

/** Grants it, and answers a kubeconfig of the operator's own. */
export async function grantOperator(server: ApiServer, client: Client): Promise<string> {
  const rules = [...managerClusterRules, ...managerNamespaceRules];
  for (const object of grantObjects(account, [{ name: account.name, rules }])) {
    const { kind } = object as { kind: string };
    const path = `/apis/rbac.authorization.k8s.io/v1/${kind.toLowerCase()}s`;
    await client.json('POST', path, { body: object });
  }
  return server.kubeconfigFor({ name: operatorUser, groups });
}

/** Throws if anything in this namespace's name was refused. */
export function assertNothingRefused(server: ApiServer): void {
  const refused = server.audit
    .find(
      ({ user, status }) => user.startsWith(`system:serviceaccount:${account.namespace}:`) && status === 403,
    )
    .map(({ user, verb, resource, subresource, namespace }) =>
      [user, verb, subresource === '' ? resource : `${resource}/${subresource}`, 'in', namespace].join(' '),
    );
  if (refused.length > 0) throw new Error(`the operator was refused: ${[...new Set(refused)].join('; ')}`);
}
