/** How a command ends when it cannot answer: one sentence and an exit code, never a stack trace. */
import {
  ApiError,
  ConfigError,
  ConnectionError,
  DeadlineError,
  explain,
  ForbiddenError,
  KubeError,
  NotFoundError,
  UnauthorizedError,
} from '@slurm-operator/kube';
import {
  Forbidden,
  InvalidInput,
  Refused,
  SlurmError,
  Timeout,
  Unauthenticated,
  Unavailable,
} from '@slurm-operator/slurm';

export const exitCode = { good: 0, findings: 1, failed: 2, refused: 3 } as const;

export class CliError extends Error {
  readonly exitCode: number;
  constructor(message: string, options: { readonly exitCode?: number; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'CliError';
    this.exitCode = options.exitCode ?? exitCode.failed;
  }
}

/** The user has no Slurm token, and no way to one: what needs Slurm is closed to them, which is no fault of the cluster. */
export class NoTokenError extends CliError {}

/** Any thrown value as a sentence and the exit code that goes with it. */
export function toExit(error: unknown): { readonly message: string; readonly exitCode: number } {
  const failed = (message: string) => ({ message, exitCode: exitCode.failed });
  const refused = (message: string) => ({ message, exitCode: exitCode.refused });
  if (error instanceof CliError) return { message: error.message, exitCode: error.exitCode };
  if (error instanceof ConfigError) return failed(explain(error));
  if (error instanceof UnauthorizedError)
    return failed('Kubernetes does not accept your credentials: log in again, or choose another --context.');
  if (error instanceof ForbiddenError)
    return isRead(error.message)
      ? failed(`You may not look: ${plain(error.message)}`)
      : refused(`You may not do this: ${plain(error.message)}`);
  if (error instanceof NotFoundError) return failed(plain(error.message));
  if (error instanceof ConnectionError || error instanceof DeadlineError)
    return failed(`The Kubernetes API does not respond: ${explain(error)}`);
  if (error instanceof ApiError) return refused(`Kubernetes refuses it: ${plain(error.message)}`);
  if (error instanceof KubeError) return failed(explain(error));
  if (error instanceof Unauthenticated)
    return failed(
      `Slurm does not accept the token (${said(error)}): it has expired or is signed with another key.`,
    );
  if (error instanceof Forbidden) return refused(`Slurm refuses it: ${said(error)}`);
  if (error instanceof Refused) return refused(`Slurm refuses it: ${said(error)}${hintFor(error)}`);
  if (error instanceof InvalidInput) return failed(error.message);
  if (error instanceof Timeout || error instanceof Unavailable)
    return failed(`Slurm does not respond: ${said(error)}`);
  if (error instanceof SlurmError) return failed(`Slurm: ${said(error)}`);
  return failed(explain(error));
}

/** Where Slurm's words say little of the cause. */
function hintFor(error: SlurmError): string {
  const text = said(error);
  if (/user nobody/i.test(text))
    return ' (The user of the token needs an account of that name where slurmctld and slurmrestd run.)';
  if (/^invalid user id/i.test(text))
    return ' (Slurm says so to users who are neither its operators nor its administrators.)';
  return '';
}

const said = (error: SlurmError): string =>
  (error.text ?? error.message).replaceAll(/\s+/g, ' ').slice(0, 300);
/** As Kubernetes words it. */
const isRead = (message: string): boolean => /\bcannot (get|list|watch) resource\b/.test(message);
/** Without the status code at the end, which says nothing to a reader. */
const plain = (message: string): string => message.replace(/ \(\d{3}\)$/, '');
