/** What can go wrong with a cluster on this machine. Every message is a sentence that says what to do. */
export type LocalClusterErrorCode =
  | 'BadArgument'
  | 'BadImage'
  | 'ClusterMissing'
  | 'ClusterRunning'
  | 'CommandFailed'
  | 'NetworkTaken'
  | 'NotRoot'
  | 'NoSuchNode'
  | 'PortInUse'
  | 'StaleState'
  | 'StartFailed'
  | 'ToolMissing';

export class LocalClusterError extends Error {
  override readonly name = 'LocalClusterError';
  readonly code: LocalClusterErrorCode;
  constructor(code: LocalClusterErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Without its causes, unlike `explain` of the runtime: the errors of localcluster are complete sentences for the person at the terminal. */
export function explain(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Namespaces, mounts and cgroups belong to root; say so before anything is begun. */
export function requireRoot(): void {
  if (process.getuid?.() !== 0)
    throw new LocalClusterError(
      'NotRoot',
      'a cluster needs root for namespaces, mounts and control groups: run this as root (sudo).',
    );
}
