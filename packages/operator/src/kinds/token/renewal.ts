/** Whether a Token may have a token, needs a new one, and when to look again. Pure. */

import { createHmac, timingSafeEqual } from 'node:crypto';
import { resourceName, type Token, tokenSecretKey } from '@slurm-operator/api';
import type { Read } from '../../objects/read.ts';

/** Lifetime of a token whose Token says nothing. */
const usualLifetime = 15 * 60_000;
/** The longest lifetime that Slurm supports: beyond it a token never expires. */
const longestLifetime = (2 ** 31 - 2) * 1000;
/** A clock may be off by this much before a token counts as made in the future. */
const clockSkew = 60_000;

export const secretOf = ({
  metadata,
  spec,
}: Read<Token>): { readonly name: string; readonly key: string } => ({
  name: spec.secretRef?.name || resourceName.tokenSecret(metadata.name, spec.username),
  key: spec.secretRef?.key || tokenSecretKey,
});

/** Go's notation, as the CRD has checked it. Milliseconds. */
export function lifetimeOf({ spec }: Read<Token>): number {
  if (!spec.lifetime) return usualLifetime;
  const units: Record<string, number> = {
    h: 3_600_000,
    m: 60_000,
    s: 1000,
    ms: 1,
    us: 1e-3,
    µs: 1e-3,
    ns: 1e-6,
  };
  let total = 0;
  for (const [, amount = '0', unit = 's'] of spec.lifetime.matchAll(/([0-9.]+)(ns|us|µs|ms|h|m|s)/g))
    total += Number(amount) * (units[unit] ?? 0);
  return Math.min(longestLifetime, Math.max(1000, total));
}

export type Renewal =
  | { readonly sign: false; readonly lookAgainAt: number | undefined }
  | { readonly sign: true; readonly why: string; readonly lifetime: number };

/** `stored` is undefined when there is no Secret, or what it holds was not signed with the present key. */
export function planRenewal(token: Read<Token>, stored: TokenFacts | undefined, now: number): Renewal {
  const lifetime = lifetimeOf(token);
  const sign = (why: string): Renewal => ({ sign: true, why, lifetime });
  if (stored === undefined) return sign('no token is signed with the current key');
  if (stored.username !== token.spec.username) return sign(`it was for user ${stored.username}`);
  if (stored.issuedAt > now + clockSkew) return sign('it was issued in the future: a clock was set back');
  if (!token.spec.refresh) return { sign: false, lookAgainAt: undefined };
  if (now >= stored.expiresAt) return sign('it expired');
  // By its own lifetime, not by the present one: a longer lifetime takes effect with the next token.
  const refreshAt = stored.issuedAt + (stored.expiresAt - stored.issuedAt) * 0.8;
  if (now >= refreshAt) return sign('four fifths of its lifetime have passed');
  if (stored.expiresAt - stored.issuedAt > lifetime + 1000) return sign('its lifetime was shortened');
  return { sign: false, lookAgainAt: refreshAt };
}

/** Users that can do anything in Slurm. */
const privileged = new Set(['root', 'slurm']);

/** Slurm reads a name that is no user's as a user id: `0` is root, also as `00`, and the id of `slurm` depends on the image. */
export const isUserId = (username: string): boolean => /^[0-9]+$/.test(username);

/**
 * A user who may write a Token must not become root by that. Tokens for such users are signed only if the Secret with the
 * signing key lists them: who can write that Secret could sign any token anyway.
 */
export const allowedUsersAnnotation = 'slinky.slurm.net/token-users';

export function mayHaveToken(username: string, keyAnnotations: Readonly<Record<string, string>>): boolean {
  if (!privileged.has(username.toLowerCase()) && !isUserId(username)) return true;
  return isListed(username, keyAnnotations);
}

export function isListed(username: string, keyAnnotations: Readonly<Record<string, string>>): boolean {
  const listed = usersListed(keyAnnotations);
  return listed.includes(username) || listed.includes('*');
}

const usersListed = (keyAnnotations: Readonly<Record<string, string>>): string[] =>
  (keyAnnotations[allowedUsersAnnotation] ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');

/** The value of the annotation that allows this user as well. */
export const withUserListed = (keyAnnotations: Readonly<Record<string, string>>, username: string): string =>
  [...usersListed(keyAnnotations), username].join(',');

/** What the Secret of a Token tells about who filled it. */
export interface StoredTokenSecret {
  /** Upstream's operator makes the Secret with the key the owner of the tokens that it signed. */
  readonly isOwnedByKey: boolean;
  /** Absent: it holds nothing that the present key signed. */
  readonly facts: TokenFacts | undefined;
}

/**
 * Whether upstream's operator served this Token, so that a move does not stop it: its Secret holds a token for the user that the present
 * key signed after the Token was created. Only at first sight: a Token that was refused once needs the annotation.
 */
export function wasServedByUpstream(token: Read<Token>, stored: StoredTokenSecret): boolean {
  const { facts, isOwnedByKey } = stored;
  if (!isOwnedByKey || facts === undefined || facts.username !== token.spec.username) return false;
  const created = Date.parse(token.metadata.creationTimestamp ?? '');
  // Both are whole seconds; a token that is older than its Token was put there by another client.
  if (!(facts.issuedAt + 1000 >= created)) return false;
  return !token.status?.conditions?.some(({ reason }) => reason === 'UserNotAllowed');
}

/** Reads the token in a Secret: its user, its signing key, and its expiry. Pure. */
export interface TokenFacts {
  readonly username: string;
  /** Milliseconds since the epoch. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** What a token says, if it was signed with this key; undefined for anything else. */
export function readToken(token: string, key: Uint8Array): TokenFacts | undefined {
  const [header = '', claims = '', signature = '', ...rest] = token.split('.');
  if (rest.length > 0) return undefined;
  const expected = createHmac('sha256', key).update(`${header}.${claims}`).digest();
  const given = Buffer.from(signature, 'base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  try {
    const parsed = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as Record<string, unknown>;
    const { sun, iat, exp } = parsed;
    if (typeof sun !== 'string' || typeof iat !== 'number' || typeof exp !== 'number') return undefined;
    return { username: sun, issuedAt: iat * 1000, expiresAt: exp * 1000 };
  } catch {
    return undefined;
  }
}
