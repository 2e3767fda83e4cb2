/** Plain HTTP for the contract suite: what slurmrestd really sends, before the client makes sense of it. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Subject } from './subject.ts';

export interface WireAnswer {
  readonly status: number;
  readonly type: string;
  readonly connection: string;
  readonly text: string;
  /** The JSON body, or {} when it is none. */
  readonly body: {
    readonly errors?: readonly {
      readonly error_number?: number;
      readonly error?: string;
      readonly description?: string;
    }[];
    readonly warnings?: readonly { readonly description?: string }[];
    readonly [key: string]: unknown;
  };
  readonly took: number;
}

export interface WireOptions {
  readonly version?: string;
  /** `null` sends none. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Sends `GET slurm/nodes/` and the like with the newest version unless told otherwise. */
export async function wire(subject: Subject, call: string, options: WireOptions = {}): Promise<WireAnswer> {
  const [method = '', target = ''] = call.split(' ');
  const [service = '', ...rest] = target.split('/');
  const { token = subject.token(), version = newestOf(subject) } = options;
  const began = performance.now();
  const response = await fetch(`${subject.server}/${service}/${version}/${rest.join('/')}`, {
    method,
    headers: {
      ...(token !== null && { 'X-SLURM-USER-TOKEN': token }),
      ...(options.body !== undefined && { 'Content-Type': 'application/json' }),
      ...options.headers,
    },
    ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
    signal: AbortSignal.timeout(120_000),
  });
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  return {
    status: response.status,
    type,
    connection: response.headers.get('connection') ?? '',
    text,
    body: type.includes('json') ? (JSON.parse(text) as WireAnswer['body']) : {},
    took: performance.now() - began,
  };
}

export const newestOf = (subject: Subject) => (subject.release === '26.05' ? 'v0.0.45' : 'v0.0.42');

/** slurmctld's own refusals: 422 in 26.05, 500 in 24.11. */
export const refusalStatus = (subject: Subject) => (subject.release === '26.05' ? 422 : 500);

export const firstError = (answer: WireAnswer) => answer.body.errors?.[0]?.error_number;

/** Looks until `check` throws no more. Only assertions are waited through. */
export async function eventually<T>(check: () => Promise<T> | T, timeoutMs = 120_000): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof assert.AssertionError) || performance.now() > deadline) throw error;
    }
    await pause(50);
  }
}
