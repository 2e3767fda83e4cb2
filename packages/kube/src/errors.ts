/** All errors of this library: classes with a stable `code`, so that callers need not parse messages. */

export type KubeErrorCode =
  | 'KUBE_API'
  | 'KUBE_CONFIG'
  | 'KUBE_CONNECTION'
  | 'KUBE_TIMEOUT'
  | 'KUBE_ABORTED'
  | 'KUBE_MALFORMED'
  | 'KUBE_NOT_SYNCED'
  | 'KUBE_ACCESS_REGAINED'
  | 'KUBE_NOT_LEADER'
  | 'KUBE_NOT_OWNED'
  | 'KUBE_TERMINAL'
  | 'KUBE_REMOTE_COMMAND';

export class KubeError extends Error {
  readonly code: KubeErrorCode;
  constructor(code: KubeErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** Invalid or missing configuration: a kubeconfig, a token file, an exec plugin. The message says what to do. */
export class ConfigError extends KubeError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('KUBE_CONFIG', message, options);
  }
}

/** No response: refused, reset, unreachable, failed TLS handshake. `sent`: the server may have processed the request. */
export class ConnectionError extends KubeError {
  readonly sent: boolean;
  constructor(message: string, options: { cause?: unknown; sent: boolean }) {
    super('KUBE_CONNECTION', message, options);
    this.sent = options.sent;
  }
}

/** The client's own deadline passed. A write may or may not have happened. */
export class DeadlineError extends KubeError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('KUBE_TIMEOUT', message, options);
  }
}

/** The caller's signal was aborted. */
export class AbortedError extends KubeError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('KUBE_ABORTED', message, options);
  }
}

/** A response that violates the protocol (truncated JSON, an HTML page of a proxy…). */
export class MalformedError extends KubeError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('KUBE_MALFORMED', message, options);
  }
}

/** A cache did not sync in time; the message says which one and why. */
export class NotSyncedError extends KubeError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('KUBE_NOT_SYNCED', message, options);
  }
}

/** A namespace that was left out can be read: the program must start again to include it. */
export class AccessRegainedError extends KubeError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('KUBE_ACCESS_REGAINED', message, options);
  }
}

/** A write was refused locally because this process does not hold the lease. */
export class NotLeaderError extends KubeError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('KUBE_NOT_LEADER', message, options);
  }
}

/** An object of the desired name exists and has another owner. */
export class NotOwnedError extends KubeError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('KUBE_NOT_OWNED', message, options);
  }
}

/** Thrown by a reconciler: retrying is pointless until the object changes. */
export class TerminalError extends KubeError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('KUBE_TERMINAL', message, options);
  }
}

/** A command in a container could not be completed: no connection, a broken connection, too much output. */
export class RemoteCommandError extends KubeError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('KUBE_REMOTE_COMMAND', message, options);
  }
}

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** The `Status` object with which the API server explains a refusal. */
export interface Status {
  readonly kind: 'Status';
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: {
    readonly name?: string;
    readonly kind?: string;
    readonly group?: string;
    readonly uid?: string;
    readonly causes?: readonly StatusCause[];
    readonly retryAfterSeconds?: number;
  };
}

/** An error response of the API server. Subclasses exist for the errors that callers distinguish. */
interface ErrorAnswer {
  readonly status: number;
  readonly body?: Status;
  readonly text?: string;
  readonly retryAfter?: number;
  readonly inWatch?: boolean;
}

export class ApiError extends KubeError {
  readonly status: number;
  readonly reason: string;
  readonly causes: readonly StatusCause[];
  readonly details: Status['details'];
  /** Retry-After of the response, in milliseconds. */
  readonly retryAfter: number | undefined;
  /** It was an ERROR event of an accepted watch, not the response to a request. */
  readonly inWatch: boolean;
  constructor(doing: string, answer: ErrorAnswer) {
    const { body } = answer;
    const said = body?.message ?? answer.text?.trim().slice(0, 300) ?? '';
    super('KUBE_API', `${doing}: ${said === '' ? 'no explanation given' : said} (${answer.status})`);
    this.status = answer.status;
    this.reason = body?.reason ?? '';
    this.causes = body?.details?.causes ?? [];
    this.details = body?.details;
    const seconds = body?.details?.retryAfterSeconds;
    this.inWatch = answer.inWatch ?? false;
    this.retryAfter = answer.retryAfter ?? (seconds === undefined ? undefined : seconds * 1000);
  }
}

export class BadRequestError extends ApiError {}
export class UnauthorizedError extends ApiError {}
export class ForbiddenError extends ApiError {}
export class NotFoundError extends ApiError {}
export class ConflictError extends ApiError {}
export class AlreadyExistsError extends ApiError {}
/** The resourceVersion or continue token is too old. */
export class GoneError extends ApiError {}
/** 422: `causes` names each field and what is wrong with it. */
export class InvalidError extends ApiError {}
export class TooManyRequestsError extends ApiError {}
export class ServerTimeoutError extends ApiError {}
export class UnavailableError extends ApiError {}

const byStatus: Readonly<Record<number, typeof ApiError>> = {
  400: BadRequestError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  410: GoneError,
  422: InvalidError,
  429: TooManyRequestsError,
  503: UnavailableError,
  504: ServerTimeoutError,
};

/** The class for an error response: its reason decides where it is more specific than the status code. */
export function apiError(doing: string, answer: ErrorAnswer): ApiError {
  const reason = answer.body?.reason;
  if (reason === 'AlreadyExists') return new AlreadyExistsError(doing, answer);
  if (reason === 'Expired' || reason === 'Gone') return new GoneError(doing, answer);
  if (reason === 'Timeout' || reason === 'ServerTimeout') return new ServerTimeoutError(doing, answer);
  return new (byStatus[answer.status] ?? ApiError)(doing, answer);
}

/** The message of any thrown value and of its causes, on one line: for logs and conditions. */
export function explain(error: unknown): string {
  const words: string[] = [];
  for (let next: unknown = error; next !== undefined && next !== null && words.length < 6; ) {
    const message =
      next instanceof Error ? next.message : typeof next === 'string' ? next : JSON.stringify(next);
    if (message !== '' && !words.some((word) => word.includes(message))) words.push(message);
    next = next instanceof Error ? next.cause : undefined;
  }
  return words.join(': ');
}
