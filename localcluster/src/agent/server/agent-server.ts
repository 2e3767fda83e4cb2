/** What a node serves to the API server: logs, exec, attach and port-forward. */
import { createServer, type Server } from 'node:https';
import type { Agent } from '../agent.ts';
import { serveLogs } from './serve-logs.ts';

export interface ServingCertificate {
  readonly certificatePem: string;
  readonly keyPem: string;
}

export class AgentServer {
  readonly #server: Server;

  private constructor(certificate: ServingCertificate, agent: () => Agent | undefined) {
    this.#server = createServer(
      { cert: certificate.certificatePem, key: certificate.keyPem },
      (request, response) => {
        const url = new URL(request.url ?? '/', 'https://node');
        const [, route, namespace = '', pod = '', container = ''] = url.pathname
          .split('/')
          .map(decodeURIComponent);
        const running = agent();
        if (route === 'healthz') response.end('ok');
        else if (route === 'containerLogs' && running !== undefined)
          void serveLogs(running, { namespace, pod, container, query: url.searchParams }, request, response);
        else {
          response.statusCode = 404;
          response.end(`404 page not found\n`);
        }
      },
    );
  }

  static async listen(
    host: string,
    certificate: ServingCertificate,
    agent: () => Agent | undefined,
  ): Promise<AgentServer> {
    const server = new AgentServer(certificate, agent);
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', reject);
      server.#server.listen(0, host, resolve);
    });
    return server;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
