/** Asks Slurm for its accounting. Nothing else tells that a slurmdbd which listens has lost its database. */
import { SlurmError, Timeout } from '@slurm-operator/slurm';
import type { SlurmConnection } from './slurm-connection.ts';

/** What slurmrestd says when it is asked for the accounting. */
export type AccountingAnswer =
  | { readonly kind: 'answers' }
  /** No answer in time, for the first time: a busy slurmdbd does that, too. */
  | { readonly kind: 'silent' }
  /** Slurm's own words. */
  | { readonly kind: 'fails'; readonly words: string };

const accountingTimeout = 2_500;

/** Never throws but when it is interrupted: accounting that fails is something to tell, not a failure of the connection. */
export async function askAccounting(
  connection: SlurmConnection,
  signal: AbortSignal,
): Promise<AccountingAnswer> {
  try {
    await connection.client.accounting.check({ signal, timeoutMs: accountingTimeout });
    connection.silences = 0;
    return { kind: 'answers' };
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof Timeout && (connection.silences += 1) < 2) return { kind: 'silent' };
    return { kind: 'fails', words: error instanceof Error ? lineOf(error) : String(error) };
  }
}

function lineOf(error: Error): string {
  const text = error instanceof SlurmError ? (error.text ?? error.message) : error.message;
  return text.replaceAll(/\s+/g, ' ').slice(0, 300);
}
