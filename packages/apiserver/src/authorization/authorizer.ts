/** Authorization by the stored roles and bindings. */

import type { ServerParts } from '../resource/server-parts.ts';
import { authorize } from './decide.ts';
import type { AuthorizationAttributes, Authorizer } from './decision.ts';
import { impersonatedUser, impersonationRights } from './impersonate.ts';
import type { RequestAttributes } from './policy-rule.ts';
import { rbacObjects } from './stored-rbac-objects.ts';

export function createAuthorizer({ store }: ServerParts): Authorizer {
  const objects = rbacObjects(store);
  return {
    authorize: (attributes) => authorize(objects, attributes.user, requestOf(attributes)),
    impersonate(user, headers) {
      const wanted = impersonatedUser(headers);
      if (wanted === undefined) return user;
      const allowed = impersonationRights(wanted).every((right) => authorize(objects, user, right).allowed);
      return allowed ? wanted : undefined;
    },
  };
}

function requestOf({ verb, resource, path }: AuthorizationAttributes): RequestAttributes {
  if (resource === undefined) return { kind: 'path', verb, path };
  const { group, plural, subresource, namespace, name } = resource;
  return {
    kind: 'resource',
    verb,
    apiGroup: group,
    resource: plural,
    ...(subresource === '' ? {} : { subresource }),
    ...(namespace === '' ? {} : { namespace }),
    ...(name === '' ? {} : { name }),
  };
}
