/** Admission and conversion reviews: requests of the API server and our responses. No I/O. */
import type { DeepReadonly, KubeObject } from '../objects/object.ts';
import { jsonDiff } from './json-diff.ts';

export interface AdmissionRequest<T extends KubeObject = KubeObject> {
  readonly uid: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly subResource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly userInfo: {
    readonly username?: string;
    readonly uid?: string;
    readonly groups?: readonly string[];
  };
  /** Absent on DELETE. */
  readonly object?: DeepReadonly<T>;
  /** Present on UPDATE and DELETE. */
  readonly oldObject?: DeepReadonly<T>;
  readonly dryRun?: boolean;
  readonly options?: unknown;
}

export interface AdmissionResponse {
  readonly allowed: boolean;
  /** Shown to the user if denied. Name the field, its value and what to do. */
  readonly message?: string;
  /** HTTP status if denied. @default 403 */
  readonly code?: number;
  readonly reason?: string;
  /** Shown to the user in either case. */
  readonly warnings?: readonly string[];
}

export const allow = (...warnings: string[]): AdmissionResponse => ({ allowed: true, warnings });
export const deny = (message: string, ...warnings: string[]): AdmissionResponse => ({
  allowed: false,
  message,
  warnings,
});

export type Validator<T extends KubeObject = KubeObject> = (
  request: AdmissionRequest<T>,
  signal: AbortSignal,
) => AdmissionResponse | Promise<AdmissionResponse>;

/** Returns the changed object, or a response. Must not modify the object of the request. */
export type Mutator<T extends KubeObject = KubeObject> = (
  request: AdmissionRequest<T>,
  signal: AbortSignal,
) =>
  | AdmissionResponse
  | { object: DeepReadonly<T> }
  | Promise<AdmissionResponse | { object: DeepReadonly<T> }>;

/** Returns the object in the desired version. In `metadata` only labels and annotations may change. */
export type Converter = (
  object: DeepReadonly<KubeObject>,
  desiredApiVersion: string,
) => object | Promise<object>;

export interface AdmissionReview {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request?: AdmissionRequest;
}

export interface ConversionReview {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request?: {
    readonly uid: string;
    readonly desiredAPIVersion: string;
    readonly objects: readonly DeepReadonly<KubeObject>[];
  };
}

export function admissionAnswer(
  review: AdmissionReview,
  answer: AdmissionResponse | { object: DeepReadonly<KubeObject> },
): object {
  const request = review.request;
  const response: AdmissionResponse = 'object' in answer ? allow() : answer;
  const patch =
    'object' in answer && request?.object !== undefined ? jsonDiff(request.object, answer.object) : [];
  return {
    apiVersion: review.apiVersion,
    kind: review.kind,
    response: {
      uid: request?.uid ?? '',
      allowed: response.allowed,
      ...(response.allowed
        ? {}
        : {
            status: {
              code: response.code ?? 403,
              reason: response.reason ?? 'Forbidden',
              message: response.message ?? 'refused',
            },
          }),
      ...((response.warnings ?? []).length === 0 ? {} : { warnings: response.warnings }),
      ...(patch.length === 0
        ? {}
        : { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }),
    },
  };
}

export function conversionAnswer(
  review: ConversionReview,
  result: { objects: object[] } | { failure: string },
): object {
  return {
    apiVersion: review.apiVersion,
    kind: review.kind,
    response: {
      uid: review.request?.uid ?? '',
      ...('objects' in result
        ? { convertedObjects: result.objects, result: { status: 'Success' } }
        : { result: { status: 'Failure', message: result.failure } }),
    },
  };
}
