/** What a connection shows to Slurm, and what a refusal of it may mean. */
import { hash } from 'node:crypto';
import { type Clock, jwtExpiry, signedToken, staticToken, type TokenProvider } from '@slurm-operator/slurm';
import type { Failure } from './failure.ts';
import type { Target } from './target.ts';

/** Names server, credential and certificates; never holds them. */
export function fingerprint(
  target: Target,
  material: { readonly secret: Buffer; readonly ca: string | undefined },
): string {
  return hash(
    'sha256',
    JSON.stringify([target, hash('sha256', material.secret), hash('sha256', material.ca ?? '')]),
  );
}

export function tokenProvider(target: Target, secret: Buffer, clock: Clock): TokenProvider {
  return target.credential.kind === 'key'
    ? signedToken({ key: secret, user: target.username, clock })
    : staticToken(secret.toString('utf8'));
}

/** A token from elsewhere may have expired. */
export function expired(failure: Failure, target: Target, secret: Buffer, now: number): Failure {
  if (failure.class !== 'authentication' || target.credential.kind === 'key') return failure;
  const end = jwtExpiry(secret.toString('utf8').trim());
  if (end === undefined || end > now) return failure;
  return {
    ...failure,
    reason: 'TokenExpired',
    message: `the token in Secret ${target.credential.secret.name} expired at ${new Date(end).toISOString()}: write a new token into it.`,
  };
}
