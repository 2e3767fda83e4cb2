/** Leads what goes to a Service's address to a slurmrestd on this machine, as kube-proxy would: the operator cannot tell the difference. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Live, Service } from '@slurm-operator/kube';

/** Services of an API server with this network have addresses that lead to this machine. One network per process: test files run side by side. */
export const loopbackServices = `127.${64 + ((process.pid >> 4) % 64)}.${(process.pid % 16) * 16}.0/20`;

export class SlurmBehindService implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Listens at the Service's address and port. */
  static async open(
    service: Pick<Live<Service>, 'spec'>,
    slurm: { readonly server: string },
  ): Promise<SlurmBehindService> {
    const target = new URL(slurm.server);
    const server = createServer((near) => {
      const far = connect(Number(target.port), target.hostname);
      for (const socket of [near, far]) behind.#keep(socket);
      near.pipe(far).pipe(near);
    });
    const behind = new SlurmBehindService(server);
    server.listen(service.spec?.ports?.[0]?.port ?? 0, service.spec?.clusterIP ?? '');
    await once(server, 'listening');
    return behind;
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
