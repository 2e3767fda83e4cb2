/** Why Slurm cannot be reached, as a documented reason, and what to do about it. Pure. */
import type { Reason } from '@slurm-operator/api';
import {
  NotSupported,
  ProtocolError,
  SlurmError,
  Timeout,
  Unauthenticated,
  Unavailable,
} from '@slurm-operator/slurm';

/**
 * - `transient`: tried again, with growing pauses
 * - `configuration`: of no use until an object changes
 * - `authentication`: the key is read again and a new token signed, once; then as transient
 */
export type FailureClass = 'transient' | 'configuration' | 'authentication';

export interface Failure {
  readonly class: FailureClass;
  readonly reason: Reason;
  readonly message: string;
}

export function classify(error: unknown, server: string): Failure {
  // A circuit that is open says when it will try next, which changes with every second; what opened it does not.
  if (error instanceof Unavailable && error.cause instanceof SlurmError) return classify(error.cause, server);
  const transient = (reason: Reason, message: string): Failure => ({ class: 'transient', reason, message });
  if (error instanceof Unauthenticated)
    return {
      class: 'authentication',
      reason: 'AuthenticationFailed',
      message: `Slurm at ${server} refuses the token of the operator: ${said(error)}. Check that the JWT key of the Controller is the one that slurmctld uses.`,
    };
  if (error instanceof NotSupported)
    return {
      class: 'configuration',
      reason: 'VersionUnsupported',
      message: `${server}: ${error.message}. Upgrade Slurm, or this operator.`,
    };
  if (error instanceof Timeout)
    return transient(
      'ConnectionTimeout',
      `${server} does not respond in time. Check that slurmrestd runs, and that no NetworkPolicy blocks the operator.`,
    );
  const code = systemCode(error);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return transient(
      'DnsFailed',
      `the name in ${server} cannot be resolved (${code}). Check that the Service exists and that DNS works.`,
    );
  if (code === 'ECONNREFUSED')
    return transient(
      'ConnectionRefused',
      `nothing listens at ${server}. Check that the pods of slurmrestd run.`,
    );
  if (code === 'ETIMEDOUT' || code === 'EHOSTUNREACH' || code === 'ENETUNREACH')
    return transient(
      'ConnectionTimeout',
      `${server} cannot be reached (${code}). Check for a NetworkPolicy between the operator and slurmrestd.`,
    );
  if (code !== undefined && /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code))
    return transient(
      'TlsFailed',
      `the certificate of ${server} is not trusted (${code}). Set spec.caConfigMapRef.`,
    );
  if (error instanceof Unavailable && /no slurmctld responds|slurmctld/i.test(error.message))
    return transient(
      'ControllerUnreachable',
      `slurmrestd at ${server} responds, but slurmctld does not: ${said(error)}.`,
    );
  if (error instanceof Unavailable || error instanceof ProtocolError)
    return transient('SlurmError', `${server}: ${said(error)}.`);
  return transient('SlurmError', `${server}: ${error instanceof Error ? error.message : String(error)}`);
}

/** Slurm's own words where it had some; never more than a line. */
function said(error: SlurmError): string {
  return (error.text ?? error.message).replaceAll(/\s+/g, ' ').slice(0, 300).replace(/\.$/, '');
}

/** The code of the system call at the bottom of a chain of causes. */
function systemCode(error: unknown): string | undefined {
  for (
    let next: unknown = error, depth = 0;
    next instanceof Error && depth < 8;
    next = next.cause, depth += 1
  )
    if ('code' in next && typeof next.code === 'string' && !(next instanceof SlurmError)) return next.code;
  return undefined;
}
