/** Impersonation by Impersonate-* headers, for users that are allowed to. */
import type { IncomingHttpHeaders } from 'node:http';
import { badRequest } from '../api/errors.ts';
import type { UserInfo } from '../api/types.ts';
import type { RequestAttributes } from './policy-rule.ts';
import {
  ANONYMOUS,
  AUTHENTICATED_GROUP,
  parseServiceAccountUsername,
  serviceAccountGroups,
  UNAUTHENTICATED_GROUP,
} from './user-info.ts';

const EXTRA_PREFIX = 'impersonate-extra-';

/** The impersonated user; `undefined` without Impersonate-* headers. */
export function impersonatedUser(headers: IncomingHttpHeaders): UserInfo | undefined {
  const name = one(headers['impersonate-user']);
  const groups = many(headers['impersonate-group']);
  const uid = one(headers['impersonate-uid']);
  const extra = extraOf(headers);
  if (name === undefined) {
    if (groups.length > 0 || uid !== undefined || Object.keys(extra).length > 0)
      throw badRequest('requested impersonation without a user: set the header Impersonate-User as well');
    return undefined;
  }
  return {
    name,
    groups: impliedGroups(name, groups),
    ...(uid === undefined ? {} : { uid }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

function impliedGroups(name: string, groups: readonly string[]): string[] {
  const account = parseServiceAccountUsername(name);
  const own = account && groups.length === 0 ? serviceAccountGroups(account.namespace) : groups;
  const last = name === ANONYMOUS.name ? UNAUTHENTICATED_GROUP : AUTHENTICATED_GROUP;
  return [...new Set([...own, last])];
}

/** The rights one needs to become this user. */
export function impersonationRights(user: UserInfo): RequestAttributes[] {
  const right = (
    resource: string,
    name: string,
    more: { apiGroup?: string; subresource?: string; namespace?: string } = {},
  ) => ({ kind: 'resource', verb: 'impersonate', apiGroup: '', resource, name, ...more }) as const;
  const account = parseServiceAccountUsername(user.name);
  const implied = new Set([
    AUTHENTICATED_GROUP,
    UNAUTHENTICATED_GROUP,
    ...(account ? serviceAccountGroups(account.namespace) : []),
  ]);
  return [
    account
      ? right('serviceaccounts', account.name, { namespace: account.namespace })
      : right('users', user.name),
    ...user.groups.filter((group) => !implied.has(group)).map((group) => right('groups', group)),
    ...(user.uid === undefined ? [] : [right('uids', user.uid, { apiGroup: 'authentication.k8s.io' })]),
    ...Object.entries(user.extra ?? {}).flatMap(([key, values]) =>
      values.map((value) =>
        right('userextras', value, { apiGroup: 'authentication.k8s.io', subresource: key }),
      ),
    ),
  ];
}

function extraOf(headers: IncomingHttpHeaders): Record<string, readonly string[]> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([key]) => key.startsWith(EXTRA_PREFIX))
      .map(([key, value]) => [decoded(key.slice(EXTRA_PREFIX.length)), many(value)]),
  );
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

// Node joins repeated headers with a comma; group names have none.
function many(value: string | string[] | undefined): string[] {
  const joined = Array.isArray(value) ? value.join(',') : (value ?? '');
  return joined
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
