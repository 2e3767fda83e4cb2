/** One request of an administrator to an embedded server, on a connection of its own. */
import { request } from 'node:https';
import type { ApiServer } from '../src/server.ts';

export interface CallOnceOptions {
  /** @default JSON, and for PATCH a merge patch */
  readonly type?: string;
  /** Authenticate with this token instead. */
  readonly token?: string | undefined;
}

export interface OneAnswer<Body> {
  readonly status: number;
  readonly warning: string | undefined;
  readonly text: string;
  /** The text, read as JSON. */
  readonly body: Body;
}

export function callOnce<Body = Record<string, unknown>>(
  server: ApiServer,
  method: string,
  path: string,
  body?: object,
  { type, token }: CallOnceOptions = {},
): Promise<OneAnswer<Body>> {
  const { certificatePem: cert, keyPem: key } = server.admin;
  const standard = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const credentials = token === undefined ? { cert, key } : {};
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const sent = request(
      `${server.url}${path}`,
      {
        method,
        ca: server.caPem,
        ...credentials,
        headers: { 'content-type': type ?? standard, ...authorization },
        agent: false,
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            warning: response.headers.warning,
            text,
            get body() {
              return JSON.parse(text) as Body;
            },
          }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
