/**
 * Answers that a real server gives only for a moment, while its caches and controllers follow what was just written. Only
 * these are asked again; every other answer that differs from the recording is a difference at once. One that lasts until
 * the deadline is a difference too.
 */
import type { CallAnswer } from './backend.ts';

export interface Expectation {
  readonly method: string;
  readonly path: string;
  readonly status: number | undefined;
  readonly body: unknown;
  /** Groups of the custom kinds that the case defines. */
  readonly customGroups: ReadonlySet<string>;
}

/** Texts of transient refusals, with what they wait for. */
const refusals: readonly (readonly [number, RegExp, string])[] = [
  [429, /storage is \(re\)initializing|received too many requests/, 'the watch cache is not ready'],
  [403, /error looking up service account \S+ serviceaccount/, 'the service account does not exist yet'],
  [403, /no PriorityClass with name \S+ was found/, 'the new PriorityClass is not known to admission yet'],
  [403, /status unknown for quota/, 'the quota has no status yet'],
  [500, /failed to call webhook: .*service \\?"[^"]+" not found/, 'the new Service is not known yet'],
];

/** What the server still waits for, when the answer is one that will change; undefined when it is final. */
export function transientReason(
  expected: Expectation,
  answer: Pick<CallAnswer, 'status' | 'text'>,
): string | undefined {
  if (answer.status < 400) return stillServed(expected, answer);
  for (const [status, text, reason] of refusals)
    if (answer.status === status && text.test(answer.text) && !isRecorded(expected, status, text))
      return reason;
  const isUnserved = answer.status === 404 && isPageNotFound(answer.text);
  if (isUnserved && !isPageNotFound(expected.body) && isCustom(expected))
    return 'the custom kind is not served yet';
  return undefined;
}

/** A kind whose definition is gone may be served a moment longer; only reads are asked again. */
function stillServed(expected: Expectation, answer: Pick<CallAnswer, 'status'>): string | undefined {
  const isOver = expected.status === 404 && isPageNotFound(expected.body) && isCustom(expected);
  return isOver && expected.method === 'GET' && answer.status === 200
    ? 'the custom kind is still served'
    : undefined;
}

function isRecorded({ status, body }: Expectation, code: number, text: RegExp): boolean {
  return status === code && text.test(JSON.stringify(body) ?? '');
}

function isPageNotFound(body: unknown): boolean {
  return typeof body === 'string' && body.trim() === '404 page not found';
}

function isCustom({ path, customGroups }: Expectation): boolean {
  const group = /^\/apis\/([^/?]+)\//.exec(path)?.[1];
  return group !== undefined && customGroups.has(group);
}
