/** Decides whether a user may do something, and says by which binding. */

import type { UserInfo } from '../api/types.ts';
import { type PolicyRule, type RequestAttributes, ruleAllows } from './policy-rule.ts';
import { type HeldRule, type RbacObjects, rulesFor, type Subject } from './rule-resolver.ts';
import { SUPERUSER_GROUP } from './user-info.ts';

export interface Decision {
  readonly allowed: boolean;
  /** Why, in the words of the API; empty for superusers and for refusals. */
  readonly reason: string;
}

const DENIED: Decision = { allowed: false, reason: '' };

export function authorize(objects: RbacObjects, user: UserInfo, request: RequestAttributes): Decision {
  if (user.groups.includes(SUPERUSER_GROUP)) return { allowed: true, reason: '' };
  const namespace = request.kind === 'resource' ? request.namespace : undefined;
  for (const held of rulesFor(objects, user, namespace))
    if (ruleAllows(held.rule, request)) return { allowed: true, reason: reasonOf(held) };
  return DENIED;
}

function reasonOf({ binding, subject }: HeldRule): string {
  const { name, namespace } = binding.metadata;
  const shown =
    namespace === undefined ? `ClusterRoleBinding "${name}"` : `RoleBinding "${name}/${namespace}"`;
  return `RBAC: allowed by ${shown} of ${binding.roleRef.kind} "${binding.roleRef.name}" to ${subjectText(subject)}`;
}

function subjectText(subject: Subject): string {
  return subject.kind === 'ServiceAccount'
    ? `ServiceAccount "${subject.name}/${subject.namespace ?? ''}"`
    : `${subject.kind} "${subject.name}"`;
}

/** The rules a user holds in a namespace, for reviews and escalation checks. Superusers hold all. */
export function heldRules(
  objects: RbacObjects,
  user: UserInfo,
  namespace: string | undefined,
): readonly PolicyRule[] {
  if (user.groups.includes(SUPERUSER_GROUP))
    return [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['*'], nonResourceURLs: ['*'] },
    ];
  return [...rulesFor(objects, user, namespace)].map((held) => held.rule);
}
