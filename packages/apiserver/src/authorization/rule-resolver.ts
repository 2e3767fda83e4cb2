/** Which rules a user holds, through which binding: the reading side of RBAC, over any source of its objects. */

import { typedList } from '../api/typed.ts';
import type { UserInfo } from '../api/types.ts';
import type { Store } from '../store/store.ts';
import type { PolicyRule } from './policy-rule.ts';
import { parseServiceAccountUsername, serviceAccountUsername } from './user-info.ts';

export interface Subject {
  readonly kind: string;
  readonly apiGroup?: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface RoleRef {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

export interface RoleObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly rules?: readonly PolicyRule[] | null;
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelector[] };
}

export interface BindingObject {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly subjects?: readonly Subject[] | null;
  readonly roleRef: RoleRef;
}

interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
}

/** Where the RBAC objects are read from: the store in the server, a literal in tests. */
export interface RbacObjects {
  role(namespace: string, name: string): RoleObject | undefined;
  clusterRole(name: string): RoleObject | undefined;
  clusterRoles(): Iterable<RoleObject>;
  roleBindings(namespace: string): Iterable<BindingObject>;
  clusterRoleBindings(): Iterable<BindingObject>;
}

export interface HeldRule {
  readonly rule: PolicyRule;
  readonly binding: BindingObject;
  readonly subject: Subject;
}

/** Every rule the user holds, cluster-wide ones first, then those of the namespace. A dangling roleRef gives none. */
export function* rulesFor(
  objects: RbacObjects,
  user: UserInfo,
  namespace: string | undefined,
): Generator<HeldRule> {
  for (const binding of objects.clusterRoleBindings()) yield* rulesOfBinding(objects, user, binding);
  if (!namespace) return;
  for (const binding of objects.roleBindings(namespace)) yield* rulesOfBinding(objects, user, binding);
}

function* rulesOfBinding(objects: RbacObjects, user: UserInfo, binding: BindingObject): Generator<HeldRule> {
  const subject = (binding.subjects ?? []).find((candidate) => subjectIs(candidate, user, binding));
  if (!subject) return;
  for (const rule of rulesOfRole(objects, binding.roleRef, binding.metadata.namespace) ?? [])
    yield { rule, binding, subject };
}

/** The rules behind a roleRef, aggregated ones included; `undefined` when there is no such role. */
export function rulesOfRole(
  objects: RbacObjects,
  roleRef: RoleRef,
  namespace: string | undefined,
): readonly PolicyRule[] | undefined {
  const role =
    roleRef.kind === 'ClusterRole'
      ? objects.clusterRole(roleRef.name)
      : objects.role(namespace ?? '', roleRef.name);
  return role && [...(role.rules ?? []), ...aggregatedRules(objects, role)];
}

// `seen` stops two roles that aggregate each other from recursing endlessly.
export function aggregatedRules(
  objects: RbacObjects,
  role: RoleObject,
  seen: Set<string> = new Set([role.metadata.name]),
): PolicyRule[] {
  const rules: PolicyRule[] = [];
  for (const selector of role.aggregationRule?.clusterRoleSelectors ?? [])
    for (const candidate of objects.clusterRoles()) {
      if (seen.has(candidate.metadata.name) || !labelsMatch(selector, candidate)) continue;
      seen.add(candidate.metadata.name);
      // What another aggregating role shows is taken from its sources, as it may be out of date.
      const own = candidate.aggregationRule === undefined ? (candidate.rules ?? []) : [];
      rules.push(...own, ...aggregatedRules(objects, candidate, seen));
    }
  return rules;
}

function labelsMatch(selector: LabelSelector, role: RoleObject): boolean {
  const labels = role.metadata.labels ?? {};
  const wanted = Object.entries(selector.matchLabels ?? {});
  return wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value);
}

function subjectIs(subject: Subject, user: UserInfo, binding: BindingObject): boolean {
  switch (subject.kind) {
    case 'User':
      return subject.name === user.name;
    case 'Group':
      return user.groups.includes(subject.name);
    case 'ServiceAccount': {
      if (!parseServiceAccountUsername(user.name)) return false;
      const namespace = subject.namespace ?? binding.metadata.namespace ?? '';
      return serviceAccountUsername(namespace, subject.name) === user.name;
    }
    default:
      return false;
  }
}

/** RBAC objects as the store holds them. */
const GROUP = 'rbac.authorization.k8s.io';

export function rbacObjects(store: Store): RbacObjects {
  const role = (object: unknown) => object as RoleObject | undefined;
  const bindings = (objects: unknown) => objects as readonly BindingObject[];
  return {
    role: (namespace, name) => role(store.get(`${GROUP}/roles`, namespace, name)),
    clusterRole: (name) => role(store.get(`${GROUP}/clusterroles`, undefined, name)),
    clusterRoles: () => typedList<RoleObject>(store.list(`${GROUP}/clusterroles`)),
    roleBindings: (namespace) => bindings(store.list(`${GROUP}/rolebindings`, namespace)),
    // The real server promises no order; the last name first is one that it was seen to use.
    clusterRoleBindings: () => bindings(store.list(`${GROUP}/clusterrolebindings`)).toReversed(),
  };
}
