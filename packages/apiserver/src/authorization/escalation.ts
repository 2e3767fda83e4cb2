/** Prevents privilege escalation: users may only grant permissions that they have. */

import type { UserInfo } from '../api/types.ts';
import { authorize, heldRules } from './decide.ts';
import { compact, describeRule, type PolicyRule, quoteList, uncovered } from './policy-rule.ts';
import { type RbacObjects, type RoleRef, rulesOfRole } from './rule-resolver.ts';
import { SUPERUSER_GROUP } from './user-info.ts';

const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** What stands against a grant: nothing, a role that is not there, or rights the user does not hold. */
export type GrantCheck =
  | { readonly outcome: 'allowed' }
  | { readonly outcome: 'missing-role'; readonly name: string }
  | { readonly outcome: 'escalation'; readonly message: string };

const ALLOWED: GrantCheck = { outcome: 'allowed' };

/** May the user write a role with these rules? Those with the verb `escalate` on the role may. */
export function checkRoleGrant(
  objects: RbacObjects,
  user: UserInfo,
  role: { readonly resource: 'roles' | 'clusterroles'; readonly namespace?: string; readonly name: string },
  rules: readonly PolicyRule[],
): GrantCheck {
  if (mayPass(objects, user, { verb: 'escalate', ...role })) return ALLOWED;
  return missingRights(objects, user, role.namespace, rules);
}

/** May the user bind this role? Those with the verb `bind` on the role may, all others only what they hold. */
export function checkBindingGrant(
  objects: RbacObjects,
  user: UserInfo,
  namespace: string | undefined,
  roleRef: RoleRef,
): GrantCheck {
  const resource = roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles';
  if (mayPass(objects, user, { verb: 'bind', resource, namespace, name: roleRef.name })) return ALLOWED;
  const rules = rulesOfRole(objects, roleRef, namespace);
  if (!rules) return { outcome: 'missing-role', name: roleRef.name };
  return missingRights(objects, user, namespace, rules);
}

function mayPass(
  objects: RbacObjects,
  user: UserInfo,
  right: {
    readonly verb: string;
    readonly resource: string;
    readonly namespace?: string | undefined;
    readonly name: string;
  },
): boolean {
  if (user.groups.includes(SUPERUSER_GROUP)) return true;
  return authorize(objects, user, {
    kind: 'resource',
    apiGroup: RBAC_GROUP,
    verb: right.verb,
    resource: right.resource,
    name: right.name,
    ...(right.namespace === undefined ? {} : { namespace: right.namespace }),
  }).allowed;
}

function missingRights(
  objects: RbacObjects,
  user: UserInfo,
  namespace: string | undefined,
  wanted: readonly PolicyRule[],
): GrantCheck {
  const missing = uncovered(heldRules(objects, user, namespace), wanted);
  if (missing.length === 0) return ALLOWED;
  const lines = compact(missing).map(describeRule).toSorted();
  const who = `user ${JSON.stringify(user.name)} (groups=${quoteList(user.groups)})`;
  return {
    outcome: 'escalation',
    message: `${who} is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}`,
  };
}
