/**
 * All errors of this library, as classes with a code.
 *
 * slurmrestd's HTTP status means little (an unknown node is a 200, an expired token a 200, 502 or 511), so the
 * class of an error depends on Slurm's error number first. No error contains a token.
 */

export type SlurmErrorCode =
  | 'NotFound'
  | 'Unauthenticated'
  | 'Forbidden'
  | 'Refused'
  | 'NotSupported'
  | 'Unavailable'
  | 'Timeout'
  | 'ProtocolError'
  | 'InvalidInput';

export interface SlurmErrorDetails {
  /** Slurm's error number (`slurm_strerror`), if the response had one. */
  readonly number?: number;
  /** Slurm's error text. */
  readonly text?: string;
  /** HTTP status of the response, if there was one. */
  readonly status?: number;
  readonly cause?: unknown;
}

export abstract class SlurmError extends Error {
  abstract readonly code: SlurmErrorCode;
  readonly number: number | undefined;
  readonly text: string | undefined;
  readonly status: number | undefined;

  constructor(message: string, details: SlurmErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.number = details.number;
    this.text = details.text;
    this.status = details.status;
  }
}

/** Slurm reported that the object does not exist. */
export class NotFound extends SlurmError {
  readonly code = 'NotFound';
}

/** The token is missing, expired, not yet valid, or signed with another key. */
export class Unauthenticated extends SlurmError {
  readonly code = 'Unauthenticated';
}

/** The user of the token is not allowed to do this. */
export class Forbidden extends SlurmError {
  readonly code = 'Forbidden';
}

/**
 * Slurm refused the request, with its error `number` and `text`. A refused update may have been
 * applied in part: Slurm does not revert the fields that it set before the refused one.
 */
export class Refused extends SlurmError {
  readonly code = 'Refused';
}

/** This Slurm (or this API version of it) has no such endpoint. */
export class NotSupported extends SlurmError {
  readonly code = 'NotSupported';
}

/** slurmrestd, slurmctld or slurmdbd could not be reached. The state of Slurm is unknown; retry later. */
export class Unavailable extends SlurmError {
  readonly code = 'Unavailable';
}

/** The caller aborted the call. This does not indicate a problem of Slurm. */
export class Aborted extends Unavailable {}

/** No complete response before the deadline. The request may or may not have had its effect. */
export class Timeout extends SlurmError {
  readonly code = 'Timeout';
}

/** The response was not valid for slurmrestd. The state of Slurm is unknown. */
export class ProtocolError extends SlurmError {
  readonly code = 'ProtocolError';
}

/** An argument of the caller is invalid; the message names it and says what to do. */
export class InvalidInput extends SlurmError {
  readonly code = 'InvalidInput';
}
