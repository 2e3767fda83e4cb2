import { readFile } from 'node:fs/promises';
import { type Clock, systemClock } from '../clock.ts';
import { Unauthenticated } from '../errors.ts';
import type { TokenProvider } from './token-provider.ts';

export interface FileTokenOptions {
  readonly path: string;
  /** How long what was read may be used. Default 10 s: a mounted secret changes under the same name. */
  readonly rereadAfterMs?: number;
  readonly clock?: Clock;
}

/** A token kept in a file by somebody else; `SLURM_JWT=…`, as `scontrol token` prints it, is understood. */
export function fileToken(options: FileTokenOptions): TokenProvider {
  const { path, rereadAfterMs = 10_000, clock = systemClock } = options;
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
