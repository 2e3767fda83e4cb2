/** What the operator presents to Slurm, and what a refusal of it may mean. */
import { hash } from 'node:crypto';
import {
  type Clock,
  InvalidInput,
  jwtExpiry,
  signedToken,
  signJwt,
  staticToken,
  type TokenProvider,
} from '@slurm-operator/slurm';
import type { Failure } from './failure.ts';
import type { Target } from './target.ts';

export interface Credential {
  /** The key that signs tokens, or a token. */
  readonly secret: Buffer;
  readonly ca: string | undefined;
}

/** Names server, credential and certificates; never holds them. */
export function fingerprint(target: Target, { secret, ca }: Credential): string {
  return hash('sha256', JSON.stringify([target, hash('sha256', secret), hash('sha256', ca ?? '')]));
}

/** Why a key can sign no token. */
export function keyProblem(
  { credential, username }: Target,
  secret: Buffer,
  now: number,
): Failure | undefined {
  if (credential.kind !== 'key') return undefined;
  try {
    signJwt({ key: secret, user: username, lifetimeSeconds: 1, now });
    return undefined;
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    const message = `Secret ${credential.secret.name}: ${error.message}.`;
    return { class: 'configuration', reason: 'InvalidKey', message };
  }
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
