/** A transport without a network: a function returns the response to each request. */
import type { ClusterConfig } from '../src/config/config.ts';
import type { Transport, TransportRequest } from '../src/transport/transport.ts';

export interface FakeAnswer {
  readonly status?: number;
  readonly body: unknown;
}

/** `handle` returns the response to a request; if it throws, the connection fails. */
export function fakeTransport(
  handle: (request: {
    method: string;
    path: string;
    query: URLSearchParams;
    body: unknown;
  }) => FakeAnswer | Promise<FakeAnswer>,
): Transport {
  const config: ClusterConfig = {
    server: 'https://fake',
    namespace: 'default',
    identity: () => Promise.resolve({}),
  };
  const request = async (asked: TransportRequest) => {
    const [path = '', query = ''] = asked.path.split('?');
    asked.signal?.throwIfAborted();
    asked.guard?.();
    const answer = await handle({
      method: asked.method,
      path,
      query: new URLSearchParams(query),
      body: asked.body === undefined ? undefined : (JSON.parse(asked.body) as unknown),
    });
    return { status: answer.status ?? 200, headers: {}, body: Buffer.from(JSON.stringify(answer.body)) };
  };
  return { config, request, close: () => undefined } as unknown as Transport;
}

/** An error response with a Status. */
export function status(code: number, reason: string, message = reason): FakeAnswer {
  return { status: code, body: { kind: 'Status', status: 'Failure', code, reason, message } };
}
