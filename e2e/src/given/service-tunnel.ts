/** A Service of a given cluster as a port of this machine, which stays when the pods behind the Service change. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Forwarded, Kubectl } from '@slurm-operator/demo/install';

export class ServiceTunnel implements AsyncDisposable {
  readonly port: number;
  readonly #server: Server;
  readonly #open: () => Promise<Forwarded>;
  readonly #sockets = new Set<Socket>();
  #forwarded: Promise<Forwarded> | undefined;

  private constructor(server: Server, open: () => Promise<Forwarded>) {
    this.#server = server;
    this.#open = open;
    const address = server.address();
    this.port = typeof address === 'object' && address !== null ? address.port : 0;
    server.on('connection', (socket) => void this.#join(socket));
  }

  static async open(
    kubectl: Kubectl,
    namespace: string,
    target: string,
    port: number,
  ): Promise<ServiceTunnel> {
    const server = createServer({ pauseOnConnect: true });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new ServiceTunnel(server, () => kubectl.forward(namespace, target, port));
  }

  /** kubectl stays with the pod that it found first: a connection that ends without an answer makes it look again. */
  async #join(socket: Socket): Promise<void> {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#sockets.delete(socket));
    const opening = (this.#forwarded ??= this.#open());
    try {
      const { port } = await opening;
      const onward = connect(port, '127.0.0.1');
      onward.on('error', () => onward.destroy());
      onward.once('close', () => {
        if (onward.bytesRead === 0) void this.#forget(opening);
        socket.destroy();
      });
      socket.once('close', () => onward.destroy());
      socket.pipe(onward).pipe(socket);
      socket.resume();
    } catch {
      socket.destroy();
      await this.#forget(opening);
    }
  }

  async #forget(opening: Promise<Forwarded>): Promise<void> {
    if (this.#forwarded !== opening) return;
    this.#forwarded = undefined;
    await opening.then(
      (forwarded) => forwarded[Symbol.asyncDispose](),
      () => {},
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    if (this.#forwarded !== undefined) await this.#forget(this.#forwarded);
  }
}
