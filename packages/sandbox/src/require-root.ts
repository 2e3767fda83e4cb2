import { PrerequisiteError } from './errors.ts';

/** Says in one sentence that `what` needs root, unless this process is root. */
export function requireRoot(what: string, user = process.geteuid?.()): void {
  if (user === 0) return;
  throw new PrerequisiteError(
    `${what} needs root (namespaces, mounts and file owners): run it again as root or with sudo.`,
  );
}
