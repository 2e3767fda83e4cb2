/** Asks the API server who a token belongs to, and what that user may do. Nothing is cached here. */
import type { Client } from './client.ts';

/** A user as an authenticator describes it; all of it goes into a review of access. */
export interface ReviewedUser {
  readonly username: string;
  readonly uid?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

export interface ReviewOptions {
  /** Milliseconds. @default 5000 */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

export type AccessAttributes =
  | {
      readonly resourceAttributes: {
        readonly group: string;
        readonly resource: string;
        readonly subresource?: string;
        readonly namespace?: string;
        readonly name?: string;
        readonly verb: string;
      };
    }
  | { readonly nonResourceAttributes: { readonly path: string; readonly verb: string } };

const defaultTimeout = 5_000;

/** `undefined` if the API server does not accept the token, or not for one of these audiences (empty: its own). */
export async function reviewToken(
  client: Client,
  token: string,
  {
    audiences = [],
    timeout = defaultTimeout,
    signal,
  }: ReviewOptions & { readonly audiences?: readonly string[] } = {},
): Promise<ReviewedUser | undefined> {
  const { status } = await client.json<{
    readonly status?: {
      readonly authenticated?: boolean;
      readonly audiences?: readonly string[];
      readonly user?: Partial<ReviewedUser>;
    };
  }>('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token, ...(audiences.length === 0 ? {} : { audiences }) },
    },
    timeout,
    ...(signal && { signal }),
  });
  const { username } = status?.user ?? {};
  if (status?.authenticated !== true || username === undefined || username === '') return undefined;
  // An authenticator that knows no audiences answers without: it must not count as one of ours.
  if (audiences.length > 0 && !audiences.some((one) => status.audiences?.includes(one))) return undefined;
  return { ...status.user, username };
}

/** Whether this user may do this; a denial takes precedence over an allowance. */
export async function reviewAccess(
  client: Client,
  { username, uid, groups, extra }: ReviewedUser,
  attributes: AccessAttributes,
  { timeout = defaultTimeout, signal }: ReviewOptions = {},
): Promise<boolean> {
  const { status } = await client.json<{
    readonly status?: { readonly allowed?: boolean; readonly denied?: boolean };
  }>('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user: username, uid, groups, extra, ...attributes },
    },
    timeout,
    ...(signal && { signal }),
  });
  return status?.allowed === true && status.denied !== true;
}
