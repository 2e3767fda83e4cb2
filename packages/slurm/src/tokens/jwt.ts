/** Signs and reads the HS256 tokens of Slurm's auth/jwt. */
import { createHmac, randomUUID } from 'node:crypto';
import { InvalidInput } from '../errors.ts';

export interface JwtOptions {
  /** The bytes of Slurm's jwt_hs256.key. */
  readonly key: Uint8Array;
  /** The Slurm user of the token (`sun`). */
  readonly user: string;
  readonly lifetimeSeconds: number;
  /** The issuer (`iss`). */
  readonly issuer?: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly id?: string;
}

const minimumKeyBytes = 32;

/** A signed token with the claims `exp iat nbf jti iss sun`. */
export function signJwt(options: JwtOptions): string {
  checkKey(options.key);
  if (options.user === '')
    throw new InvalidInput('the token needs a user name; give "slurm" or the user it acts for');
  if (!(options.lifetimeSeconds > 0))
    throw new InvalidInput(`the lifetime of a token must be positive, not ${options.lifetimeSeconds} s`);
  const iat = Math.floor(options.now / 1000);
  const claims = {
    exp: iat + Math.floor(options.lifetimeSeconds),
    iat,
    nbf: iat,
    jti: options.id ?? randomUUID(),
    iss: options.issuer ?? 'slurm-operator',
    sun: options.user,
  };
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${createHmac('sha256', options.key).update(signed).digest('base64url')}`;
}

/** The expiry of a token in milliseconds, unverified; `undefined` if it has none or is invalid. */
export function jwtExpiry(token: string): number | undefined {
  const exp = claim(token, 'exp');
  return typeof exp === 'number' ? exp * 1000 : undefined;
}

/** The Slurm user that a token is for, unverified; `undefined` if it names none or is invalid. */
export function jwtUser(token: string): string | undefined {
  const user = claim(token, 'sun');
  return typeof user === 'string' && user !== '' ? user : undefined;
}

function claim(token: string, name: 'exp' | 'sun'): unknown {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    return typeof claims === 'object' && claims !== null
      ? (claims as Readonly<Record<string, unknown>>)[name]
      : undefined;
  } catch {
    return undefined;
  }
}

function checkKey(key: Uint8Array): void {
  if (key.length < minimumKeyBytes)
    throw new InvalidInput(
      `the JWT key has ${key.length} bytes; HS256 needs at least ${minimumKeyBytes}: make one with "head -c 32 /dev/urandom"`,
    );
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
