/**
 * Exchanges an identity in Kubernetes for a short token of the same user in Slurm. The API server says who asks and what they may do; Slurm
 * then enforces ownership itself. Nothing is cached: a token that was revoked is refused at once.
 */
import { randomUUID } from 'node:crypto';
import { group } from '@slurm-operator/api';
import type { Log, ReviewedUser } from '@slurm-operator/kube';
import { InvalidInput, signJwt } from '@slurm-operator/slurm';
import { allowedUsersAnnotation, isListed, mayHaveToken, withUserListed } from '../kinds/token/renewal.ts';
import type { RequestLimits } from './request-limits.ts';
import { type MappedUser, slurmUserOf, type UserMapping } from './slurm-user.ts';

/**
 * `jobs`: as yourself. `nodes`: as Slurm's administrator, who drains nodes. `view`: as an account that owns nothing, for programs that
 * only read, such as the dashboard. Virtual subresources of a Cluster, for RBAC only.
 */
export type Scope = 'jobs' | 'nodes' | 'view';

export interface ExchangeRequest {
  /** The bearer token of Kubernetes; undefined without one. */
  readonly bearer: string | undefined;
  /** Names of the request's headers, in lower case. */
  readonly headers: readonly string[];
  readonly body: string;
  /** Of the connection, for the log. */
  readonly from: string;
}

export interface ExchangeAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, string>>;
  readonly retryAfterMs?: number;
  /** Kubernetes knows who asked. */
  readonly isKnown?: boolean;
}

export interface SigningKey {
  readonly secret: string;
  readonly key: Buffer;
  readonly annotations: Readonly<Record<string, string>>;
  /** Whom Slurm lets drain nodes: where another operator runs it, SlurmUser may have another name. @default slurm */
  readonly administrator?: string | undefined;
}

export interface Exchanger {
  /** Who the bearer is; undefined if Kubernetes does not accept it for these audiences. */
  readonly review: (bearer: string) => Promise<ReviewedUser | undefined>;
  /** Whether that user may do this with the subresource of the Cluster. */
  readonly isAllowed: (user: ReviewedUser, attributes: ResourceAttributes) => Promise<boolean>;
  /** The JWT key of a Cluster, or why there is none. */
  readonly keyOf: (namespace: string, cluster: string) => Promise<SigningKey | string>;
  readonly users: UserMapping;
  readonly limits: RequestLimits;
  readonly log: Log;
  readonly now: () => number;
}

export interface ResourceAttributes {
  readonly group: string;
  readonly resource: 'clusters';
  /** `users`: to ask for a person who has logged in elsewhere. */
  readonly subresource: Scope | 'users';
  readonly namespace: string;
  readonly name: string;
  readonly verb: 'create' | 'impersonate';
}

export const lifetimeSeconds = 300;
const defaultAdministrator = 'slurm';
/** Exists in every image, owns no job, and sees what PrivateData of slurm.conf leaves to everyone. */
const reader = 'nobody';
const dnsName = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

export async function exchangeToken(request: ExchangeRequest, exchanger: Exchanger): Promise<ExchangeAnswer> {
  const { log, limits, now } = exchanger;
  const refuse = (status: number, message: string, who: Readonly<Record<string, string>> = {}) => {
    // The server notes floods, many requests in one line.
    if (status !== 429) log.warn({ status, from: request.from, ...who }, `no Slurm token: ${message}`);
    return { status, body: { message }, isKnown: 'user' in who };
  };

  // 1. Who asks is whom the token names, never whom a header names.
  if (request.headers.some((header) => header.startsWith('impersonate-')))
    return refuse(400, 'impersonation is not possible here: use a token of your own');
  const asked = readBody(request.body);
  if (typeof asked === 'string') return refuse(400, asked);
  if (request.bearer === undefined) return refuse(401, 'a bearer token of the cluster is required');

  // 2. The API server is asked only so often.
  const wait = limits.waitOfAll(now());
  if (wait > 0) return { ...refuse(429, 'too many requests'), retryAfterMs: wait };
  const asker = await exchanger.review(request.bearer);
  if (asker === undefined) return refuse(401, 'Kubernetes does not accept the token');
  const place = { group, resource: 'clusters', namespace: asked.namespace, name: asked.cluster } as const;
  const { onBehalfOf: user = asker } = asked;
  const who = {
    user: user.username,
    ...(user === asker ? {} : { askedBy: asker.username }),
    cluster: `${asked.namespace}/${asked.cluster}`,
    scope: asked.scope,
  };
  // A proxy that has logged a person in may ask for them, where its right to do so is granted: whose rights count is theirs.
  if (
    user !== asker &&
    !(await exchanger.isAllowed(asker, { ...place, subresource: 'users', verb: 'impersonate' }))
  )
    return {
      ...refuse(
        403,
        `${asker.username} may not impersonate clusters/users of ${asked.cluster} in namespace ${asked.namespace}`,
        who,
      ),
      // Its own limit does not count it, so that of its address does.
      isKnown: false,
    };
  const theirs = limits.waitOf(user.username, now());
  if (theirs > 0)
    return { ...refuse(429, `too many requests of ${user.username}`, who), retryAfterMs: theirs };

  // 3. What they may do, before anything of the cluster is looked at.
  if (!(await exchanger.isAllowed(user, { ...place, subresource: asked.scope, verb: 'create' })))
    return refuse(
      403,
      `${user.username} may not create clusters/${asked.scope} of ${asked.cluster} in namespace ${asked.namespace}`,
      who,
    );

  // 4. Whom they are in Slurm. Root and the administrator need the consent of the key's owner.
  const own: MappedUser | undefined =
    asked.scope === 'jobs' ? slurmUserOf(user.username, exchanger.users) : undefined;
  if (own?.kind === 'none') return refuse(403, `${user.username} is no user of Slurm: ${own.why}`, who);
  const key = await exchanger.keyOf(asked.namespace, asked.cluster);
  if (typeof key === 'string') return refuse(404, key, who);
  const administrator = key.administrator ?? defaultAdministrator;
  const name = own?.name ?? (asked.scope === 'nodes' ? administrator : reader);
  if (!(name === administrator ? isListed : mayHaveToken)(name, key.annotations))
    return refuse(
      403,
      `tokens for ${name} need consent: kubectl annotate --overwrite -n ${asked.namespace} secret ${key.secret} ${allowedUsersAnnotation}=${withUserListed(key.annotations, name)}`,
      who,
    );

  // 5. Sign, and note that it was done, without the token.
  const id = randomUUID();
  const issuedAt = now();
  const expiresAt = new Date((Math.floor(issuedAt / 1000) + lifetimeSeconds) * 1000).toISOString();
  try {
    const token = signJwt({ key: key.key, user: name, lifetimeSeconds, now: issuedAt, id });
    log.info({ ...who, slurmUser: name, from: request.from, id, expiresAt }, 'issued a Slurm token');
    return { status: 200, body: { token, slurmUser: name, expiresAt }, isKnown: true };
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    return refuse(409, `Secret ${key.secret}: ${error.message}`, who);
  }
}

interface Asked {
  readonly namespace: string;
  readonly cluster: string;
  readonly scope: Scope;
  readonly onBehalfOf: ReviewedUser | undefined;
}

const mostGroups = 500;
const longestName = 253;

/** A sentence where it is not understood. */
function readBody(text: string): Asked | string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return 'the body is not JSON';
  }
  const {
    namespace,
    cluster,
    scope = 'jobs',
    onBehalfOf,
  } = (body ?? {}) as Partial<Record<keyof Asked, unknown>>;
  if (typeof namespace !== 'string' || !dnsName.test(namespace)) return 'namespace must be the name of one';
  if (typeof cluster !== 'string' || !dnsName.test(cluster)) return 'cluster must be the name of a Cluster';
  if (scope !== 'jobs' && scope !== 'nodes' && scope !== 'view') return 'scope must be jobs, nodes or view';
  const other = onBehalfOf === undefined ? undefined : readPerson(onBehalfOf);
  if (typeof other === 'string') return other;
  if (other !== undefined && scope === 'view') return 'a program that reads asks for itself';
  return { namespace, cluster, scope, onBehalfOf: other };
}

/** Never an account or a group of Kubernetes itself: those log in with their own tokens. */
function readPerson(value: unknown): ReviewedUser | string {
  const { user, groups = [] } = (value ?? {}) as { readonly user?: unknown; readonly groups?: unknown };
  const isName = (name: unknown): name is string =>
    typeof name === 'string' &&
    name.length <= longestName &&
    /^[^\s,]+$/.test(name) &&
    !name.startsWith('system:');
  if (!isName(user)) return 'onBehalfOf.user must be the name of a person';
  if (!Array.isArray(groups) || groups.length > mostGroups || !groups.every(isName))
    return `onBehalfOf.groups must be up to ${mostGroups} names of groups of people`;
  return { username: user, groups: [...groups, 'system:authenticated'] };
}
