/**
 * A node's wire to the API server. It only passes bytes on, so TLS stays between the two ends; when the wire is cut,
 * connections end and new ones are refused, as behind a dead switch.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';

export class ApiLink {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #cut = false;

  private constructor(target: { readonly host: string; readonly port: number }) {
    this.#server = createServer((near) => {
      if (this.#cut) {
        near.destroy();
        return;
      }
      const far = connect(target);
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(one);
        one.setNoDelay(true);
        one.pipe(other);
        one.on('error', () => other.destroy());
        one.on('close', () => {
          this.#sockets.delete(one);
          other.destroy();
        });
      }
    });
  }

  static async open(
    target: { readonly host: string; readonly port: number },
    listen: { readonly host: string; readonly port: number } = { host: '127.0.0.1', port: 0 },
  ): Promise<ApiLink> {
    const link = new ApiLink(target);
    await new Promise<void>((resolve, reject) => {
      link.#server.once('error', reject);
      link.#server.listen(listen.port, listen.host, resolve);
    });
    return link;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  cut(): void {
    this.#cut = true;
    // A reset, not a close: a server may wait indefinitely for the end of a graceful close.
    // A socket that is being closed cannot be reset, and would keep the process from ending.
    for (const socket of this.#sockets) {
      if (socket.writableEnded) socket.destroy();
      else socket.resetAndDestroy();
    }
  }

  restore(): void {
    this.#cut = false;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
