/** Every refusal of the server is an ApiError: it carries the Status object that the client receives. */
import type { KubeObject } from './types.ts';

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: readonly StatusCause[];
  retryAfterSeconds?: number;
}

export interface Status extends KubeObject {
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code?: number;
}

/** Group and plural name of a resource, as messages name it: `statefulsets.apps`, `pods`. */
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

export function groupResourceText({ group, resource }: GroupResource): string {
  return group === '' ? resource : `${resource}.${group}`;
}

export class ApiError extends Error {
  readonly status: Status;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: number,
    reason: string,
    message: string,
    more: {
      details?: StatusDetails;
      metadata?: KubeObject['metadata'];
      cause?: unknown;
      headers?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'ApiError';
    this.headers = more.headers ?? {};
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: more.metadata ?? {},
      status: 'Failure',
      message,
      ...(reason === '' ? {} : { reason }),
      ...(more.details === undefined ? {} : { details: more.details }),
      code,
    };
  }

  get code(): number {
    return this.status.code ?? 500;
  }

  get reason(): string {
    return this.status.reason ?? '';
  }
}

function details(about: GroupResource, name: string): StatusDetails {
  return {
    ...(name === '' ? {} : { name }),
    ...(about.group === '' ? {} : { group: about.group }),
    kind: about.resource,
  };
}

export function notFound(about: GroupResource, name: string): ApiError {
  return new ApiError(404, 'NotFound', `${groupResourceText(about)} "${name}" not found`, {
    details: details(about, name),
  });
}

export function alreadyExists(about: GroupResource, name: string, message?: string): ApiError {
  const text = message ?? `${groupResourceText(about)} "${name}" already exists`;
  return new ApiError(409, 'AlreadyExists', text, { details: details(about, name) });
}

export function conflict(about: GroupResource, name: string, why: string): ApiError {
  return new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${groupResourceText(about)} "${name}": ${why}`,
    { details: details(about, name) },
  );
}

/** The text of a conflict by resourceVersion. */
export const objectModified =
  'the object has been modified; please apply your changes to the latest version and try again';

export function badRequest(message: string, more: { details?: StatusDetails } = {}): ApiError {
  return new ApiError(400, 'BadRequest', message, more);
}

export function forbidden(about: GroupResource, name: string, why: string, causes?: StatusCause[]): ApiError {
  const what =
    name === ''
      ? `${groupResourceText(about)} is forbidden: ${why}`
      : `${groupResourceText(about)} "${name}" is forbidden: ${why}`;
  return new ApiError(403, 'Forbidden', what, {
    details: { ...details(about, name), ...(causes === undefined ? {} : { causes }) },
  });
}

/** One thing wrong with one field. `message` is the whole text after the field path. */
export interface FieldFault {
  /** FieldValueInvalid, FieldValueRequired, FieldValueNotSupported, FieldValueForbidden, … */
  readonly reason: string;
  readonly field: string;
  readonly message: string;
}

/** 422 with one cause per fault; `kind` is the object's kind and group, not the resource. */
export function invalid(
  kind: { readonly group: string; readonly kind: string },
  name: string,
  faults: readonly FieldFault[],
): ApiError {
  const of = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  const texts = faults.map((fault) => `${fault.field}: ${fault.message}`);
  const distinct = [...new Set(texts)];
  const summary = distinct.length === 1 ? distinct[0] : `[${distinct.join(', ')}]`;
  return new ApiError(422, 'Invalid', `${of} "${name}" is invalid: ${summary}`, {
    details: {
      ...(name === '' ? {} : { name }),
      ...(kind.group === '' ? {} : { group: kind.group }),
      ...(kind.kind === '' ? {} : { kind: kind.kind }),
      causes: faults.map(({ reason, field, message }) => ({ reason, message, field })),
    },
  });
}

export function internalError(message: string, cause?: unknown): ApiError {
  return new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, {
    details: { causes: [{ message }] },
    cause,
  });
}

/** Something a real server does and this stand-in does not; said aloud instead of a silent success. */
export function notImplemented(feature: string): ApiError {
  return new ApiError(501, 'NotImplemented', `the embedded API server does not support ${feature}`);
}

export function expired(message: string, continueToken?: string): ApiError {
  const metadata = { continue: continueToken } as KubeObject['metadata'];
  return new ApiError(410, 'Expired', message, continueToken === undefined ? {} : { metadata });
}
