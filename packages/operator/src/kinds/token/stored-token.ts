/** Reads the token in a Secret: its user, its signing key, and its expiry. Pure. */
import { createHmac, timingSafeEqual } from 'node:crypto';

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
