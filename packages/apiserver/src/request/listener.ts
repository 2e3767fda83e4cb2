/** HTTPS on loopback: one port that can be left and taken again, with every socket at hand to be cut. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly certificatePem: string;
  readonly keyPem: string;
  readonly caPem: string;
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

export class Listener {
  readonly #options: ListenerOptions;
  readonly #sockets = new Set<Socket>();
  readonly #secure = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#port = options.port;
  }

  get port(): number {
    return this.#port;
  }

  get listening(): boolean {
    return this.#server !== undefined;
  }

  /** Takes the port; after the first time always the same one. */
  async open(): Promise<void> {
    if (this.#server !== undefined) return;
    const { certificatePem, keyPem, caPem, handle, upgrade, host } = this.#options;
    const server = createServer(
      {
        cert: certificatePem,
        key: keyPem,
        ca: caPem,
        requestCert: true,
        rejectUnauthorized: false,
        keepAliveTimeout: 120_000,
        // A connection cut before its greeting is over is noticed by this alone; nothing may outlive a stop by more.
        handshakeTimeout: 10_000,
      },
      handle,
    );
    server.on('upgrade', upgrade);
    // Raw TCP sockets: a cut must not wait for a TLS goodbye.
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    // What is wrapped around them does not always notice the end of what it wraps.
    server.on('secureConnection', (socket: Socket) => {
      this.#secure.add(socket);
      socket.on('close', () => this.#secure.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, host, () => {
        server.off('error', reject);
        resolve();
      });
    });
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Gives the port back and cuts every connection. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    this.cut();
    await closed;
  }

  /**
   * Ends every open connection at once; new ones are welcome. Not by a reset: Node cannot reset a socket that is being shut down
   * already, and such a one would then keep the process from ever ending.
   */
  cut(): void {
    for (const socket of this.#secure) socket.destroy();
    for (const socket of this.#sockets) socket.destroy();
  }
}
