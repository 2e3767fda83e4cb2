/**
 * Interprets a response of slurmrestd. `errors[]` decides first, the HTTP status second: the same error is 422 in Slurm
 * 26.05 and 500 in 24.11, an expired token is 511 (or 200, or 502), an unknown node is a 200.
 */
import {
  Forbidden,
  NotFound,
  NotSupported,
  ProtocolError,
  Refused,
  type SlurmError,
  Unauthenticated,
  Unavailable,
} from '../errors.ts';
import type { Answer } from './transport.ts';

export interface WireProblem {
  readonly description?: string;
  readonly error_number?: number;
  readonly error?: string;
  readonly source?: string;
}

/** The common fields of every JSON response of slurmrestd. */
export interface Envelope {
  readonly errors?: readonly WireProblem[];
  readonly warnings?: readonly WireProblem[];
  readonly meta?: { readonly slurm?: { readonly release?: string; readonly cluster?: string } };
  readonly [payload: string]: unknown;
}

/** Numbers from slurm_errno.h that this library distinguishes. */
export const errorNumber = {
  unspecified: -1,
  none: 0,
  authentication: 1007,
  controllerUnreachable: 1800,
  accessDenied: 2002,
  invalidUser: 2010,
  nodesBusy: 2016,
  unknownJob: 2017,
  unknownNode: 2018,
  jobAlreadyEnded: 2021,
  databaseUnreachable: 7000,
  notFoundInQuery: 9000,
} as const;

/** Errors by which slurmrestd reports that the daemon behind it did not respond: 1800 to 1899, and 7000 for slurmdbd. */
function isUnreachable(number: number): boolean {
  return (number >= 1800 && number < 1900) || number === errorNumber.databaseUnreachable;
}

export type Interpretation =
  | { readonly kind: 'good'; readonly envelope: Envelope }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'empty' }
  /** 404 that is not Slurm's JSON: slurmrestd has no such path, version or method (or it is not slurmrestd). */
  | { readonly kind: 'no-such-path' }
  | { readonly kind: 'bad'; readonly error: SlurmError; readonly envelope: Envelope | undefined };

export function interpret(answer: Answer, what: string): Interpretation {
  const { status } = answer;
  if (status === 304) return { kind: 'unchanged' };
  const envelope = parse(answer);
  if (envelope === undefined) {
    if (status === 404) return { kind: 'no-such-path' };
    if ((status === 200 || status === 204) && answer.text === '') return { kind: 'empty' };
    return { kind: 'bad', error: errorOfStatus(status, what, answer), envelope: undefined };
  }
  const problem = (envelope.errors ?? []).find((error) => (error.error_number ?? 0) !== errorNumber.none);
  if (problem !== undefined) return { kind: 'bad', error: errorOf(problem, status, what), envelope };
  if (status >= 200 && status < 300) return { kind: 'good', envelope };
  const [first] = envelope.errors ?? [];
  return {
    kind: 'bad',
    error: first ? errorOf(first, status, what) : errorOfStatus(status, what, answer),
    envelope,
  };
}

/** The sentences of `warnings[]`, in order. */
export function warningsOf(envelope: Envelope): readonly string[] {
  return (envelope.warnings ?? [])
    .map((warning) => warning.description ?? warning.error ?? '')
    .filter(Boolean);
}

function parse(answer: Answer): Envelope | undefined {
  if (!answer.contentType.includes('json') || answer.text === '') return undefined;
  try {
    const value: unknown = JSON.parse(answer.text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Envelope)
      : undefined;
  } catch {
    return undefined;
  }
}

function errorOf(problem: WireProblem, status: number, what: string): SlurmError {
  const number = problem.error_number ?? 0;
  const text = [problem.error, problem.description].filter(Boolean).join(': ') || 'no text';
  const details = { number, text: problem.error ?? text, status };
  const message = `${what}: ${text} (Slurm error ${number}, HTTP ${status})`;
  if (number === errorNumber.authentication || status === 511 || status === 401)
    return new Unauthenticated(`${message}; is the token expired, or signed with another key?`, details);
  if (number === errorNumber.invalidUser || number === errorNumber.accessDenied)
    return new Forbidden(message, details);
  if (number === errorNumber.unknownJob || number === errorNumber.unknownNode)
    return new NotFound(message, details);
  // slurmrestd sends -1 for an unspecified error; observed when slurmctld is down.
  if (isUnreachable(number) || number === errorNumber.unspecified || [502, 503, 504].includes(status))
    return new Unavailable(message, details);
  return new Refused(message, details);
}

function errorOfStatus(status: number, what: string, answer: Answer): SlurmError {
  const details = { status };
  switch (status) {
    case 401:
    case 511:
      return new Unauthenticated(`${what}: no valid token (HTTP ${status})`, details);
    case 403:
      return new Forbidden(`${what}: forbidden (HTTP 403)`, details);
    case 405:
    case 501:
      return new NotSupported(`${what}: not supported by this server (HTTP ${status})`, details);
    case 408:
    case 429:
    case 502:
    case 503:
    case 504:
      return new Unavailable(`${what}: slurmrestd is not available (HTTP ${status})`, details);
    default:
      return new ProtocolError(
        `${what}: HTTP ${status} with ${answer.bytes} bytes of ${answer.contentType || 'nothing'} is no answer of slurmrestd`,
        details,
      );
  }
}
