import { LocalClusterError } from '../errors.ts';

/** Namespaces, mounts and cgroups belong to root; say so before anything is begun. */
export function requireRoot(): void {
  if (process.getuid?.() !== 0)
    throw new LocalClusterError(
      'NotRoot',
      'a cluster needs root for namespaces, mounts and control groups: run this as root (sudo).',
    );
}
