/** A wait of a command: with a deadline, and not ended by one request that fails. */
import { ConnectionError, DeadlineError, sleep } from '@slurm-operator/kube';
import { Timeout, Unavailable } from '@slurm-operator/slurm';
import { CliError } from '../errors.ts';
import type { Session } from './session.ts';

export interface WaitOptions {
  readonly everyMs: number;
  readonly timeoutSeconds: number;
  /** What is said when the time is over. */
  readonly tooLong: () => CliError;
}

/** A daemon that restarts is back within this time. */
const outageMs = 120_000;

/** Looks until there is a result. */
export async function waitUntil<T>(
  session: Session,
  look: () => Promise<T | undefined>,
  { everyMs, timeoutSeconds, tooLong }: WaitOptions,
): Promise<T> {
  const { io, signal } = session;
  const deadline = io.now() + timeoutSeconds * 1000;
  let failingSince: number | undefined;
  for (;;) {
    try {
      const found = await look();
      if (found !== undefined) return found;
      failingSince = undefined;
    } catch (error) {
      if (!passes(error)) throw error;
      if (failingSince === undefined) session.note('No answer; trying again …');
      failingSince ??= io.now();
      if (io.now() - failingSince > outageMs) throw error;
    }
    if (io.now() > deadline) throw tooLong();
    await sleep(everyMs, signal);
  }
}

const passes = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  error instanceof DeadlineError ||
  error instanceof Timeout ||
  error instanceof Unavailable;

const day = 86_400;

/** Of `--timeout`. */
export function timeoutOf(session: Session, defaultSeconds = day): number {
  const text = session.line.text('timeout');
  const seconds = Number(text ?? defaultSeconds);
  if (!(seconds > 0)) throw new CliError(`--timeout must be seconds, such as 600, not "${text}".`);
  return seconds;
}
