/** Asks Slurm for its accounting. Nothing else tells that a slurmdbd which listens has lost its database. */
import { type SlurmClient, SlurmError, Timeout } from '@slurm-operator/slurm';

/** What slurmrestd says when it is asked for the accounting. */
export type AccountingAnswer =
  | { readonly kind: 'answers' }
  /** No answer in time: a busy slurmdbd does that, too. */
  | { readonly kind: 'silent'; readonly words: string }
  /** Slurm's own words. */
  | { readonly kind: 'fails'; readonly words: string };

const accountingTimeout = 2_500;

/** Never throws but when it is interrupted: accounting that fails is something to tell, not a failure of the connection. */
export async function askAccounting(
  { accounting }: Pick<SlurmClient, 'accounting'>,
  signal: AbortSignal,
): Promise<AccountingAnswer> {
  try {
    await accounting.check({ signal, timeoutMs: accountingTimeout });
    return { kind: 'answers' };
  } catch (error) {
    if (signal.aborted) throw error;
    const words = error instanceof Error ? lineOf(error) : String(error);
    return { kind: error instanceof Timeout ? 'silent' : 'fails', words };
  }
}

function lineOf(error: Error): string {
  const text = error instanceof SlurmError ? (error.text ?? error.message) : error.message;
  return text.replaceAll(/\s+/g, ' ').slice(0, 300);
}
