/** The well-known users and groups, and how service accounts appear among them. */
import type { UserInfo } from '../api/types.ts';

export const SUPERUSER_GROUP = 'system:masters';
export const AUTHENTICATED_GROUP = 'system:authenticated';
export const UNAUTHENTICATED_GROUP = 'system:unauthenticated';

export const ANONYMOUS: UserInfo = { name: 'system:anonymous', groups: [UNAUTHENTICATED_GROUP] };

/** The user name of a service account in requests and RBAC. */
export function serviceAccountUsername(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

/** The groups every service account of the namespace is in, besides `system:authenticated`. */
export function serviceAccountGroups(namespace: string): readonly string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

/** Namespace and name of a service account's user name; `undefined` for any other user. */
export function parseServiceAccountUsername(
  username: string,
): { readonly namespace: string; readonly name: string } | undefined {
  const match = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(username);
  return match?.[1] !== undefined && match[2] !== undefined
    ? { namespace: match[1], name: match[2] }
    : undefined;
}

/** A user as reviews and webhooks see it. */
export function userInfoOf({ name, uid, groups, extra }: UserInfo): Record<string, unknown> {
  return {
    username: name,
    ...(uid === undefined ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(extra === undefined ? {} : { extra }),
  };
}
