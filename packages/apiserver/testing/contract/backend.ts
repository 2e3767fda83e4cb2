/** A server that recordings are replayed against, and how to talk to it. */
import { Agent, type RequestOptions, request } from 'node:https';
import type { ApiServer } from '../../src/server.ts';

export interface Backend {
  /** As reports name it. */
  readonly name: string;
  readonly url: string;
  readonly caPem?: string;
  readonly certificatePem?: string;
  readonly keyPem?: string;
  readonly token?: string;
  /** Set when it is this package's own server, which a case may then compact or look into. */
  readonly embedded?: ApiServer;
  /** Controllers run beside it, so that `eventually` can come true by itself. */
  readonly controllers: boolean;
}

export interface CallOptions {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly anonymous?: boolean;
  readonly signal?: AbortSignal;
}

export interface CallAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly text: string;
}

/** Longer than any recorded answer took. */
const callDeadline = 60_000;

export class Caller {
  readonly backend: Backend;
  readonly #agent: Agent;

  constructor(backend: Backend) {
    this.backend = backend;
    this.#agent = new Agent({ keepAlive: true });
  }

  close(): void {
    this.#agent.destroy();
  }

  async call(options: CallOptions): Promise<CallAnswer> {
    let text = '';
    const deadline = AbortSignal.timeout(callDeadline);
    const signal = options.signal === undefined ? deadline : AbortSignal.any([deadline, options.signal]);
    const answer = await this.stream({ ...options, signal }, (chunk) => {
      text += chunk;
    });
    await answer.ended;
    if (signal.aborted)
      throw new Error(
        `${options.method} ${options.path} did not end within ${callDeadline} ms (status ${answer.status})`,
      );
    return { status: answer.status, headers: answer.headers, text };
  }

  /** Resolves with the head of the answer; chunks of its body go to `onData` until `ended`. */
  stream(
    { method, path, headers = {}, body, anonymous = false, signal }: CallOptions,
    onData: (chunk: string) => void,
  ): Promise<{ status: number; headers: Record<string, string[]>; ended: Promise<void> }> {
    const payload = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const sent: Record<string, string> = {
      'user-agent': 'recorder/1.0',
      accept: 'application/json',
      ...(payload === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) }),
      ...headers,
    };
    for (const [name, value] of Object.entries(sent)) if (value === '<absent>') delete sent[name];
    const { caPem, certificatePem, keyPem, token, url } = this.backend;
    if (token !== undefined && !anonymous && sent['authorization'] === undefined)
      sent['authorization'] = `Bearer ${token}`;
    const options: RequestOptions = {
      method,
      headers: sent,
      ...(caPem === undefined ? {} : { ca: caPem }),
      ...(anonymous || 'authorization' in headers
        ? { agent: false }
        : {
            agent: this.#agent,
            ...(certificatePem === undefined ? {} : { cert: certificatePem }),
            ...(keyPem === undefined ? {} : { key: keyPem }),
          }),
      ...(signal === undefined ? {} : { signal }),
    };
    return new Promise((resolve, reject) => {
      const outgoing = request(new URL(`${url}${path}`), options, (incoming) => {
        incoming.setEncoding('utf8');
        incoming.on('data', onData);
        const ended = new Promise<void>((done) => {
          incoming.once('close', done);
          incoming.once('error', () => done());
        });
        resolve({ status: incoming.statusCode ?? 0, headers: headerLists(incoming.rawHeaders), ended });
      });
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }
}

/** Node joins repeated headers; warnings must stay apart. */
function headerLists(raw: readonly string[]): Record<string, string[]> {
  const lists: Record<string, string[]> = {};
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase();
    (lists[name] ??= []).push(raw[at + 1] ?? '');
  }
  return lists;
}
