import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/**
 * Where everything lives that the project keeps outside a checkout: `$XDG_CACHE_HOME/slurm-operator`.
 * A relative XDG_CACHE_HOME is ignored, as the XDG base directory rules ask.
 */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const xdg = env['XDG_CACHE_HOME'];
  const base = xdg !== undefined && isAbsolute(xdg) ? xdg : join(env['HOME'] ?? homedir(), '.cache');
  return join(base, 'slurm-operator');
}
