/** The switchboard: everything that goes wrong between a client and a real API server, on demand. */
import type { ServerResponse } from 'node:http';
import { ApiError } from '../errors.ts';
import type { Answer, StreamSink } from '../http/answer.ts';
import type { RequestContext } from '../ports/request-context.ts';

/** Which requests a fault concerns; all of them when nothing is given. */
export interface FaultScope {
  readonly verb?: string;
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly user?: string;
  /** Stops by itself after that many requests. */
  readonly times?: number;
}

/** Takes a fault away again. */
export type Heal = () => void;

export class Faults {
  /** The answer that a fault gives in place of the real one, if any. */
  before(_context: RequestContext, _response: ServerResponse): Promise<Answer | undefined> {
    return Promise.resolve(undefined);
  }

  /** Runs a watch with a sink that faults can interfere with. */
  watching(
    context: RequestContext,
    response: ServerResponse,
    run: (sink: StreamSink) => Promise<void>,
  ): Promise<void> {
    return run({
      write: (text) => response.write(text),
      signal: context.signal,
      get pending() {
        return response.writableLength;
      },
    });
  }
}

export function tooManyRequests(retryAfterSeconds: number): ApiError {
  return new ApiError(
    429,
    'TooManyRequests',
    'the server has received too many requests and has asked us to try again later',
    {
      details: { retryAfterSeconds },
      headers: { 'Retry-After': String(retryAfterSeconds) },
    },
  );
}
