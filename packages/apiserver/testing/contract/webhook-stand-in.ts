/** The admission webhook of the recordings: an HTTPS server that notes every review and answers by script. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority, issueServing } from '@slurm-operator/kubernetes-values';
import { webhookScript } from './webhook-script.ts';

interface Received {
  readonly path: string;
  readonly review: unknown;
}

export class WebhookStandIn {
  readonly #server: Server;
  readonly #caPem: string;
  #received: Received[] = [];

  private constructor(server: Server, caPem: string) {
    this.#server = server;
    this.#caPem = caPem;
  }

  static async start(): Promise<WebhookStandIn> {
    const now = Date.now();
    const authority = await createAuthority({ name: 'contract-webhook-ca', now });
    const { certificatePem, keyPem } = await issueServing(authority, { hosts: ['127.0.0.1'], now });
    const server = createServer({ cert: certificatePem, key: keyPem });
    const standIn = new WebhookStandIn(server, authority.certificatePem);
    server.on('request', (request, response) => void standIn.#handle(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return standIn;
  }

  /** Puts the real port and CA in place of their masks. */
  fill(text: string): string {
    return text
      .replaceAll('<port>', String((this.#server.address() as AddressInfo).port))
      .replaceAll('<ca-bundle>', Buffer.from(this.#caPem).toString('base64'));
  }

  /** The oldest review received at a path (with query) that was not asked for yet. */
  next(path: string): unknown {
    const index = this.#received.findIndex((received) => received.path === path);
    return index < 0 ? undefined : this.#received.splice(index, 1)[0]?.review;
  }

  forget(): void {
    this.#received = [];
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const path = request.url ?? '/';
    const review: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    this.#received.push({ path, review });
    const answer = await webhookScript(path.split('?')[0] ?? '', review);
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  }
}
