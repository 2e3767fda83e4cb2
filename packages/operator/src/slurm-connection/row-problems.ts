/** What a refused write to the accounting database means for the object that declares the row. Pure. */
import type { Reason } from '@slurm-operator/api';
import type { SlurmError } from '@slurm-operator/slurm';

export function problemOfSlurm(error: SlurmError): { readonly reason: Reason; readonly message: string } {
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
