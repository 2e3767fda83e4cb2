/**
 * Every way a call to Slurm can go wrong, as one set of coded classes.
 *
 * The HTTP status alone means little to slurmrestd (an unknown node is a 200, an expired token a 200, 502 or 511), so the
 * class of an error follows from Slurm's own error numbers first. No error ever carries a token.
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
  /** Slurm's error number (`slurm_strerror`), where the answer had one. */
  readonly number?: number;
  /** Slurm's own words. */
  readonly text?: string;
  /** HTTP status of the answer, if there was an answer. */
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

/** Slurm answered that the thing the call needs does not exist. */
export class NotFound extends SlurmError {
  readonly code = 'NotFound';
}

/** The token is missing, expired, not yet valid, or signed with another key. */
export class Unauthenticated extends SlurmError {
  readonly code = 'Unauthenticated';
}

/** The token's user is known and may not do this. */
export class Forbidden extends SlurmError {
  readonly code = 'Forbidden';
}

/**
 * Slurm understood the call and said no; `number` and `text` are its own. An update that was refused may still have been
 * applied in part: Slurm does not undo the fields it had set before the one it refused.
 */
export class Refused extends SlurmError {
  readonly code = 'Refused';
}

/** This Slurm (or this API version of it) has no such endpoint. */
export class NotSupported extends SlurmError {
  readonly code = 'NotSupported';
}

/** slurmrestd, slurmctld or slurmdbd could not be reached: nothing is known, try later. */
export class Unavailable extends SlurmError {
  readonly code = 'Unavailable';
}

/** The caller gave the call up: nothing is known, and nothing is wrong with Slurm. */
export class GivenUp extends Unavailable {}

/** No complete answer before the deadline: the call may or may not have had its effect. */
export class Timeout extends SlurmError {
  readonly code = 'Timeout';
}

/** The answer was not what slurmrestd sends: nothing is known. */
export class ProtocolError extends SlurmError {
  readonly code = 'ProtocolError';
}

/** The caller's own argument cannot be sent; the message names it and says what to do. */
export class InvalidInput extends SlurmError {
  readonly code = 'InvalidInput';
}
