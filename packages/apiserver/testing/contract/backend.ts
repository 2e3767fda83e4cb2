/** A server that recordings are replayed against, and how to talk to it. */
import { Agent, type RequestOptions, request } from 'node:https';
import type { ApiServer } from '../../src/server.ts';
import { NamespaceNames } from './namespace-names.ts';

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
  /** Controllers run beside it, so that `eventually` can become true. */
  readonly controllers: boolean;
  /** A scheduler and kubelets run there: pods do not stay as they were created. */
  readonly kubelets?: boolean;
  /** Its etcd (before 3.4.25) cannot tell the progress of a watch, so a watch with initial events ends with an error. */
  readonly oldEtcd?: boolean;
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
  readonly names: NamespaceNames;
  readonly #agent: Agent;

  /** `names`: the namespaces that are used in place of the recorded ones. */
  constructor(backend: Backend, names: NamespaceNames = new NamespaceNames()) {
    this.backend = backend;
    this.names = names;
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
    const headers = Object.fromEntries(
      Object.entries(answer.headers).map(([name, list]) => [
        name,
        list.map((one) => this.names.incoming(one)),
      ]),
    );
    return { status: answer.status, headers, text: this.names.incoming(text) };
  }

  /** Resolves with the head of the answer; chunks of its body go to `onData` until `ended`. */
  stream(
    { method, path, headers = {}, body, anonymous = false, signal }: CallOptions,
    onData: (chunk: string) => void,
  ): Promise<{ status: number; headers: Record<string, string[]>; ended: Promise<void> }> {
    const renamed = this.names.outgoing(body);
    const payload =
      renamed === undefined ? undefined : typeof renamed === 'string' ? renamed : JSON.stringify(renamed);
    const sent: Record<string, string> = {
      'user-agent': 'recorder/1.0',
      accept: 'application/json',
      ...(payload === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) }),
      ...this.names.outgoing(headers),
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
      const outgoing = request(new URL(`${url}${this.names.path(path)}`), options, (incoming) => {
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
