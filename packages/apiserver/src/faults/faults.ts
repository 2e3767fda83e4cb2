/** The switchboard: everything that goes wrong between a client and a real API server, on demand. */
import type { ServerResponse } from 'node:http';
import type { Answer, StreamSink } from '../http/answer.ts';
import type { RequestContext } from '../ports/request-context.ts';

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
