/** RBAC objects as the store holds them. */
import { typedList } from '../api/typed.ts';
import type { Store } from '../store/store.ts';
import type { BindingObject, RbacObjects, RoleObject } from './rule-resolver.ts';

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
