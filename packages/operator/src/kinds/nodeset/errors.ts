/** What can be wrong with a NodeSet beside what Kubernetes or Slurm refuse. */

/** An object of a name that is needed belongs to somebody else. */
export class NameConflictError extends Error {
  readonly code = 'NameConflict';
  override readonly name = 'NameConflictError';
}
