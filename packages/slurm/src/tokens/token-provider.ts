/** Token providers: a fixed token, a file, or tokens signed with Slurm's key. */
import { readFile } from 'node:fs/promises';
import { type Clock, systemClock } from '../clock.ts';
import { Unauthenticated } from '../errors.ts';
import { type JwtOptions, signJwt } from './jwt.ts';

/** Provides the token of each request. */
export interface TokenProvider {
  /** A JWT for the header X-SLURM-USER-TOKEN; `undefined` sends none. */
  token(signal?: AbortSignal): Promise<string | undefined>;
}

/** A token that never changes. */
export function staticToken(token: string): TokenProvider {
  const clean = token.trim();
  return { token: () => Promise.resolve(clean) };
}

export interface SignedTokenOptions extends Omit<JwtOptions, 'now' | 'id' | 'lifetimeSeconds'> {
  /** Default 15 minutes. */
  readonly lifetimeSeconds?: number;
  readonly clock?: Clock;
}

/** Signs tokens with Slurm's key, and a new one after 4/5 of the lifetime. */
export function signedToken(options: SignedTokenOptions): TokenProvider {
  const { lifetimeSeconds = 900, clock = systemClock } = options;
  const sign = (now: number) => ({
    token: signJwt({ ...options, lifetimeSeconds, now }),
    refreshAt: now + lifetimeSeconds * 800,
    madeAt: now,
  });
  let kept = sign(clock.now()); // an invalid key throws here, not at the first request
  return {
    token() {
      const now = clock.now();
      // After the clock was set back the token would be from the future; Slurm refuses those.
      if (now >= kept.refreshAt || now < kept.madeAt) kept = sign(now);
      return Promise.resolve(kept.token);
    },
  };
}

export interface FileTokenOptions {
  readonly path: string;
  /** How long the token is cached. Default 10 s: a mounted Secret may change. */
  readonly rereadAfterMs?: number;
  readonly clock?: Clock;
}

/** A token from a file that another program maintains. Also accepts `SLURM_JWT=…`, as `scontrol token` prints it. */
export function fileToken(options: FileTokenOptions): TokenProvider {
  const { path, rereadAfterMs = 10000, clock = systemClock } = options;
  let kept: { readonly token: string; readonly readAt: number } | undefined;
  return {
    async token(signal) {
      const now = clock.now();
      if (kept !== undefined && now - kept.readAt < rereadAfterMs) return kept.token;
      const token = (await read(path, signal)).trim().replace(/^SLURM_JWT=/, '');
      if (token === '') throw new Unauthenticated(`the token file ${path} is empty; put a Slurm JWT into it`);
      kept = { token, readAt: now };
      return token;
    },
  };
}

async function read(path: string, signal: AbortSignal | undefined): Promise<string> {
  try {
    return await readFile(path, { encoding: 'utf8', ...(signal && { signal }) });
  } catch (cause) {
    throw new Unauthenticated(`cannot read the token file ${path}`, { cause });
  }
}
