/** Turns errors of Slurm into answers that a person can act on. */
import {
  Forbidden,
  InvalidInput,
  NotFound,
  NotSupported,
  Refused,
  SlurmError,
  Timeout,
  Unauthenticated,
} from '@slurm-operator/slurm';
import type { Answer } from '../http/routes.ts';
import { NoSlurmToken } from './cluster-view.ts';

export function ok(body: unknown): Answer {
  return { status: 200, body };
}

export function bad(status: number, message: string, field?: string): Answer {
  return { status, body: { message, ...(field === undefined ? {} : { field }) } };
}

/** Runs a write or a read of Slurm. Errors that are not Slurm's go on. */
export async function answerOf(what: string, act: () => Promise<Answer>): Promise<Answer> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof NoSlurmToken) return bad(error.status, error.message);
    if (!(error instanceof SlurmError)) throw error;
    return bad(statusOf(error), `${what}: ${sentence(error)}`);
  }
}

function statusOf(error: SlurmError): number {
  if (error instanceof NotFound) return 404;
  if (error instanceof Forbidden || error instanceof Unauthenticated) return 403;
  if (error instanceof InvalidInput || error instanceof Refused) return 409;
  if (error instanceof NotSupported) return 501;
  return 503;
}

function sentence(error: SlurmError): string {
  if (error instanceof Timeout)
    return 'Slurm did not answer in time. Whether it was done is not known: look at the list before you try again.';
  if (error instanceof Refused) return `Slurm refuses: ${error.text}`;
  return error.message;
}
