import type { Connection } from '../connection/connection.ts';
import { Unauthenticated, Unavailable } from '../errors.ts';
import type { ControllerPing, SlurmDiag, SlurmLicense } from '../model/cluster.ts';
import { type CallOptions, callOptions, type WriteResult } from './call-options.ts';
import { Endpoint } from './endpoint.ts';

/** slurmctld as a whole: is it there, how is it, read your configuration again. */
export class Controller {
  readonly #endpoint: Endpoint;

  constructor(connection: Connection) {
    this.#endpoint = new Endpoint(connection);
  }

  /** One entry per configured slurmctld. `responding: false` is also what a bad token gets: see `check`. */
  async ping(options?: CallOptions): Promise<readonly ControllerPing[]> {
    const call = { method: 'GET', path: 'ping/', ...callOptions(options) } as const;
    return (await this.#endpoint.list(call, 'pings', (adapter) => adapter.ping)).items;
  }

  /**
   * Resolves when slurmctld answers and accepts the token. Throws Unauthenticated or Unavailable otherwise, told apart by
   * a question that needs the token (ping alone says 200 to both).
   */
  async check(options?: CallOptions): Promise<readonly ControllerPing[]> {
    const pings = await this.ping(options);
    if (pings.some((ping) => ping.responding)) return pings;
    const hosts = pings.map((ping) => ping.hostname).join(', ') || 'none is configured';
    const said = pings.map((ping) => ping.status).find((status) => status !== undefined);
    if (said?.includes('authentication'))
      throw new Unauthenticated(`Slurm does not accept the token: ${said}`, { text: said, status: 200 });
    if (said === undefined) await this.#needsToken(options);
    throw new Unavailable(`no slurmctld responds (${hosts}): ${said ?? 'no reason given'}`, { status: 200 });
  }

  async diag(options?: CallOptions): Promise<SlurmDiag> {
    const { envelope } = await this.#endpoint.connection.ask({
      method: 'GET',
      path: 'diag/',
      ...callOptions(options),
    });
    return (await this.#endpoint.adapter(options)).diag(envelope['statistics']);
  }

  /**
   * Makes slurmctld read its configuration again. A 200 does not say that the new one is good: a slurmctld that cannot
   * use it dies, or goes on with the old one. Check the file first, and the daemon afterwards.
   */
  async reconfigure(options?: CallOptions): Promise<WriteResult> {
    const call = { method: 'GET', path: 'reconfigure/', idempotent: false, ...callOptions(options) } as const;
    return this.#endpoint.accepted((await this.#endpoint.connection.ask(call)).warnings);
  }

  /** Before v0.0.45 ping does not say why; a question that needs the token does, if slurmctld is there at all. */
  async #needsToken(options?: CallOptions): Promise<void> {
    try {
      await this.licenses({ timeoutMs: 3000, ...options });
    } catch (error) {
      if (error instanceof Unauthenticated) throw error;
    }
  }

  async licenses(options?: CallOptions): Promise<readonly SlurmLicense[]> {
    const call = { method: 'GET', path: 'licenses/', ...callOptions(options) } as const;
    return (await this.#endpoint.list(call, 'licenses', (adapter) => adapter.license)).items;
  }
}
