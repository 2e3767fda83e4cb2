/** Whether a row in Slurm is deleted with its object. Pure. */
import type { Applied } from './decide.ts';

export interface DeclaredDeletion {
  readonly deletionPolicy: 'Orphan' | 'Delete';
  readonly applied: Applied | undefined;
  /** `unknown`: Slurm does not respond; `gone`: it never will, because its Controller or Accounting is deleted. */
  readonly slurm: 'known' | 'unknown' | 'gone';
  readonly rowExists: boolean;
}

/**
 * `Release`: the finalizer is removed, the row stays or is gone. `Delete`: the row is deleted first. `Wait`: it is not known yet. A row that the
 * operator never wrote or adopted is never deleted.
 */
export function decideDeletion({
  deletionPolicy,
  applied,
  slurm,
  rowExists,
}: DeclaredDeletion): 'Release' | 'Delete' | 'Wait' {
  if (deletionPolicy === 'Orphan' || applied === undefined || slurm === 'gone') return 'Release';
  if (slurm === 'unknown') return 'Wait';
  return rowExists ? 'Delete' : 'Release';
}
