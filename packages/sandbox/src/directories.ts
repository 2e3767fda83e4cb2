/** The cache directory, and scratch directories whose names contain the pid of their program, so that those of killed programs can be found. */
import { mkdtempSync, readdirSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { identify } from './process/process-identity.ts';

/** Creates one. The caller removes it. */
export function scratchDirectory(name: string): string {
  return mkdtempSync(join(tmpdir(), `slurm-operator-${name}-${process.pid}-`));
}

const named = /^slurm-operator-[a-z-]+-(?<pid>\d+)-[A-Za-z0-9]{6}$/;

/** Those whose programs have ended. Directories of other users are ignored, whatever their name. */
export function abandonedScratch(): string[] {
  return readdirSync(tmpdir(), { withFileTypes: true })
    .filter((entry) => {
      const pid = named.exec(entry.name)?.groups?.['pid'];
      return entry.isDirectory() && pid !== undefined && identify(Number(pid)) === undefined;
    })
    .map(({ name }) => join(tmpdir(), name));
}

/**
 * Where everything lives that the project keeps outside a checkout: `$XDG_CACHE_HOME/slurm-operator`.
 * A relative XDG_CACHE_HOME is ignored, as the XDG base directory rules ask.
 */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const xdg = env['XDG_CACHE_HOME'];
  const base = xdg !== undefined && isAbsolute(xdg) ? xdg : join(env['HOME'] ?? homedir(), '.cache');
  return join(base, 'slurm-operator');
}
