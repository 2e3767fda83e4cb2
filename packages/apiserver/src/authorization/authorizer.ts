/** Authorization by the stored roles and bindings. */
import type { IncomingHttpHeaders } from 'node:http';
import type { UserInfo } from '../api/types.ts';
import type { Store } from '../store/store.ts';
import { authorize, type Decision } from './decide.ts';
import { impersonatedUser, impersonationRights } from './impersonate.ts';
import type { RequestAttributes } from './policy-rule.ts';
import { rbacObjects } from './rule-resolver.ts';

export interface AuthorizationAttributes {
  readonly user: UserInfo;
  readonly verb: string;
  /** Set for requests on resources. */
  readonly resource?: {
    readonly group: string;
    readonly version: string;
    readonly plural: string;
    readonly subresource: string;
    readonly namespace: string;
    readonly name: string;
  };
  /** The path of a request that is not on a resource. */
  readonly path: string;
}

export class Authorizer {
  readonly #objects: ReturnType<typeof rbacObjects>;

  constructor(store: Store) {
    this.#objects = rbacObjects(store);
  }

  authorize(attributes: AuthorizationAttributes): Decision {
    return authorize(this.#objects, attributes.user, requestOf(attributes));
  }

  /** The user that Impersonate-* headers ask for, the same one without them, or undefined when that is not allowed. */
  impersonate(user: UserInfo, headers: IncomingHttpHeaders): UserInfo | undefined {
    const wanted = impersonatedUser(headers);
    if (wanted === undefined) return user;
    const isAllowed = impersonationRights(wanted).every(
      (right) => authorize(this.#objects, user, right).allowed,
    );
    return isAllowed ? wanted : undefined;
  }
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
