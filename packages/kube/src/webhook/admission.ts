/** Admission and conversion reviews: what the API server asks and what we answer. No I/O. */
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

export interface Verdict {
  readonly allowed: boolean;
  /** Shown to the user when refused. Name the field, its value and what to do. */
  readonly message?: string;
  /** HTTP status of a refusal. @default 403 */
  readonly code?: number;
  readonly reason?: string;
  /** Shown to the user in either case. */
  readonly warnings?: readonly string[];
}

export const allow = (...warnings: string[]): Verdict => ({ allowed: true, warnings });
export const deny = (message: string, ...warnings: string[]): Verdict => ({
  allowed: false,
  message,
  warnings,
});

export type Validator<T extends KubeObject = KubeObject> = (
  request: AdmissionRequest<T>,
  signal: AbortSignal,
) => Verdict | Promise<Verdict>;

/** Answers the object as it should be, or a verdict. Must not change the one it got. */
export type Mutator<T extends KubeObject = KubeObject> = (
  request: AdmissionRequest<T>,
  signal: AbortSignal,
) => Verdict | { object: DeepReadonly<T> } | Promise<Verdict | { object: DeepReadonly<T> }>;

/** Answers the object in the wanted version. `metadata` must stay but for labels and annotations. */
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
  answer: Verdict | { object: DeepReadonly<KubeObject> },
): object {
  const request = review.request;
  const verdict: Verdict = 'object' in answer ? allow() : answer;
  const patch =
    'object' in answer && request?.object !== undefined ? jsonDiff(request.object, answer.object) : [];
  return {
    apiVersion: review.apiVersion,
    kind: review.kind,
    response: {
      uid: request?.uid ?? '',
      allowed: verdict.allowed,
      ...(verdict.allowed
        ? {}
        : {
            status: {
              code: verdict.code ?? 403,
              reason: verdict.reason ?? 'Forbidden',
              message: verdict.message ?? 'refused',
            },
          }),
      ...((verdict.warnings ?? []).length === 0 ? {} : { warnings: verdict.warnings }),
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
