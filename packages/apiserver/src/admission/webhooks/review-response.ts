/** The response of a webhook, validated and simplified. */
import { ApiError, type StatusDetails } from '../../api/errors.ts';
import { isObject, parseExact } from '../../api/json.ts';
import type { CallOutcome } from './call.ts';

export interface ReviewResponse {
  readonly allowed: boolean;
  readonly warnings: readonly string[];
  /** For the audit log. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly patch?: unknown;
  readonly status?: {
    readonly message?: string;
    readonly reason?: string;
    readonly code?: number;
    readonly details?: StatusDetails;
  };
}

export type Reading = { readonly response: ReviewResponse } | { readonly fault: string };

const GO_STRUCT =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** Reads an answer; a fault is the text after "failed calling webhook …: ". */
export function readReviewResponse(outcome: CallOutcome, uid: string, mutating: boolean): Reading {
  if ('fault' in outcome) return { fault: `failed to call webhook: ${outcome.fault}` };
  const { status, text } = outcome;
  if (status < 200 || status >= 300) return { fault: `failed to call webhook: ${httpFault(status, text)}` };
  const parsed = parse(text);
  if ('fault' in parsed) return { fault: `failed to call webhook: ${parsed.fault}` };
  const review = parsed.value;
  const bad = (why: string): Reading => ({ fault: `received invalid webhook response: ${why}` });
  if (review['kind'] !== 'AdmissionReview' || review['apiVersion'] !== 'admission.k8s.io/v1')
    return bad(
      `expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${String(review['apiVersion'])}, Kind=${String(review['kind'])}`,
    );
  const { response } = review;
  if (!isObject(response)) return bad('webhook response was absent');
  if (response['uid'] !== uid)
    return bad(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response['uid'] ?? '')}`);
  const patch = mutating ? readPatch(response) : { value: undefined };
  if ('fault' in patch) return bad(patch.fault);
  return {
    response: {
      allowed: response['allowed'] === true,
      warnings: textsOf(response['warnings']),
      annotations: isObject(response['auditAnnotations']) ? textEntries(response['auditAnnotations']) : {},
      ...(patch.value === undefined ? {} : { patch: patch.value }),
      ...(isObject(response['status']) ? { status: response['status'] } : {}),
    },
  };
}

// A webhook may send anything; what is not a text is left out.
function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

function textEntries(value: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function parse(text: string): { readonly value: Record<string, unknown> } | { readonly fault: string } {
  const start = "couldn't get version/kind; json parse error: ";
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return { value };
    const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
    return { fault: `${start}json: cannot unmarshal ${type} into Go value of type ${GO_STRUCT}` };
  } catch {
    const shown =
      text === ''
        ? 'unexpected end of JSON input'
        : `invalid character '${text.trimStart().charAt(0)}' looking for beginning of value`;
    return { fault: `${start}${shown}` };
  }
}

function httpFault(status: number, text: string): string {
  const shown = text.trim();
  if (status >= 500)
    return `an error on the server (${JSON.stringify(shown === '' ? 'unknown' : shown)}) has prevented the request from succeeding`;
  if (status === 404) return 'the server could not find the requested resource';
  if (status === 401 || status === 403) return `the server has refused the call (${status})`;
  return 'the server rejected our request for an unknown reason';
}

function readPatch(
  response: Record<string, unknown>,
): { readonly value: unknown } | { readonly fault: string } {
  const { patch, patchType } = response;
  if (patch === undefined || patch === null || patch === '') {
    return patchType === undefined || patchType === null
      ? { value: undefined }
      : { fault: 'webhook returned response.patchType but not response.patch' };
  }
  if (patchType === undefined || patchType === null)
    return { fault: 'webhook returned response.patch but not response.patchType' };
  if (patchType !== 'JSONPatch')
    return { fault: `webhook returned invalid response.patchType of ${JSON.stringify(patchType)}` };
  try {
    return {
      value: parseExact(Buffer.from(typeof patch === 'string' ? patch : '', 'base64').toString('utf8')),
    };
  } catch {
    return { fault: 'webhook returned response.patch that is no JSON' };
  }
}

/** The refusal a client receives. The webhook's own words and code are kept. */
export function refusalOf(name: string, { status = {} }: ReviewResponse): ApiError {
  const { message, reason, code, details } = status;
  const why = message || reason;
  const text = why
    ? `admission webhook ${JSON.stringify(name)} denied the request: ${why}`
    : `admission webhook ${JSON.stringify(name)} denied the request without explanation`;
  return new ApiError(code ?? 400, reason ?? '', text, details === undefined ? {} : { details });
}
