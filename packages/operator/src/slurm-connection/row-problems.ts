/** What a refused write to the accounting database means for the object that declares the row. Pure. */
import type { Reason } from '@slurm-operator/api';
import type { SlurmError } from '@slurm-operator/slurm';

interface RowProblem {
  readonly reason: Reason;
  readonly message: string;
}

export function problemOfSlurm(error: SlurmError): RowProblem {
  const message = `${error.message.replace(/\.?$/, '')}.`;
  switch (error.code) {
    case 'InvalidInput':
      return { reason: 'InvalidSpec', message };
    case 'NotSupported':
      return { reason: 'Unsupported', message };
    case 'Unavailable':
    case 'Timeout':
      return { reason: 'DatabaseUnknown', message };
    default:
      return { reason: 'SlurmError', message };
  }
}

export interface DatabaseOfObject {
  readonly namespace: string;
  /** Name of the Accounting. */
  readonly accounting: string;
  readonly accountingExists: boolean;
  /** Controllers through which the database is reached. */
  readonly controllers: readonly unknown[];
}

/** Why nothing can be decided about an object that declares rows; `conflict` says that another one declares the same. */
export function unreachableDatabase(
  { namespace, accounting, accountingExists, controllers }: DatabaseOfObject,
  conflict: string | undefined,
): RowProblem | undefined {
  if (!accountingExists)
    return {
      reason: 'AccountingNotFound',
      message: `Accounting ${accounting} does not exist in namespace ${namespace}: create it, or delete this object and create one with another accountingRef.`,
    };
  if (conflict !== undefined) return { reason: 'NameConflict', message: conflict };
  if (controllers.length > 0) return undefined;
  return {
    reason: 'DatabaseUnknown',
    message: `no Controller in namespace ${namespace} has accountingRef.name "${accounting}": the operator reaches the database through the slurmrestd of one.`,
  };
}

export const unreadDatabase = (accounting: string, why: string | undefined): RowProblem => ({
  reason: 'DatabaseUnknown',
  message: `the accounting database of Accounting ${accounting} cannot be read${why === undefined ? '' : ` (${why})`}: nothing is changed in it until it can.`,
});
