/** Where a client gets its token from, before every request. */

export interface TokenProvider {
  /** A JWT for the header X-SLURM-USER-TOKEN; `undefined` sends none. */
  token(signal?: AbortSignal): Promise<string | undefined>;
}

/** The same token for ever. */
export function staticToken(token: string): TokenProvider {
  const clean = token.trim();
  return { token: () => Promise.resolve(clean) };
}
