import { type Clock, systemClock } from '../clock.ts';
import { type JwtOptions, signJwt } from './jwt.ts';
import type { TokenProvider } from './token-provider.ts';

export interface SignedTokenOptions extends Omit<JwtOptions, 'now' | 'id' | 'lifetimeSeconds'> {
  /** Default 15 minutes. */
  readonly lifetimeSeconds?: number;
  readonly clock?: Clock;
}

/** Signs its own tokens with Slurm's key and makes a new one when 4/5 of the lifetime are over. */
export function signedToken(options: SignedTokenOptions): TokenProvider {
  const { lifetimeSeconds = 900, clock = systemClock } = options;
  const sign = (now: number) => ({
    token: signJwt({ ...options, lifetimeSeconds, now }),
    refreshAt: now + lifetimeSeconds * 800,
    madeAt: now,
  });
  let kept = sign(clock.now()); // a bad key is said at once, not at the first request
  return {
    token() {
      const now = clock.now();
      // A clock that was set back would make a token from the future; Slurm refuses those.
      if (now >= kept.refreshAt || now < kept.madeAt) kept = sign(now);
      return Promise.resolve(kept.token);
    },
  };
}
