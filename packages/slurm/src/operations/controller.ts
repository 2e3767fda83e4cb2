import type { Connection } from '../connection/connection.ts';
import { Unauthenticated, Unavailable } from '../errors.ts';
import type { ControllerPing, SlurmDiag, SlurmLicense } from '../model/cluster.ts';
import { type CallOptions, callOptions, Endpoint, type WriteResult } from './endpoint.ts';

/** slurmctld: ping, statistics, reconfigure. */
export class Controller {
  readonly #endpoint: Endpoint;

  constructor(connection: Connection) {
    this.#endpoint = new Endpoint(connection);
  }

  /** One entry per configured slurmctld. `responding` is also false for an invalid token: see `check`. */
  async ping(options?: CallOptions): Promise<readonly ControllerPing[]> {
    const call = { method: 'GET', path: 'ping/', ...callOptions(options) } as const;
    return (await this.#endpoint.list(call, 'pings', (adapter) => adapter.ping)).items;
  }

  /**
   * Resolves if slurmctld responds and accepts the token. Throws Unauthenticated or Unavailable otherwise, distinguished by
   * a request that needs the token (ping returns 200 in both cases).
   */
  async check(options?: CallOptions): Promise<readonly ControllerPing[]> {
    const pings = await this.ping(options);
    if (pings.some((ping) => ping.responding)) return pings;
    const hosts = pings.map((ping) => ping.hostname).join(', ') || 'none is configured';
    const reason = pings.map((ping) => ping.status).find((status) => status !== undefined);
    if (reason?.includes('authentication'))
      throw new Unauthenticated(`Slurm does not accept the token: ${reason}`, { text: reason, status: 200 });
    if (reason === undefined) await this.#needsToken(options);
    throw new Unavailable(`no slurmctld responds (${hosts}): ${reason ?? 'no reason given'}`, {
      status: 200,
    });
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
   * Makes slurmctld read its configuration again. A 200 does not mean that the new one is valid: a slurmctld that cannot
   * use it exits, or keeps the old one. Check the file before, and the daemon afterwards.
   */
  async reconfigure(options?: CallOptions): Promise<WriteResult> {
    const call = { method: 'GET', path: 'reconfigure/', idempotent: false, ...callOptions(options) } as const;
    return this.#endpoint.accepted((await this.#endpoint.connection.ask(call)).warnings);
  }

  /** Before v0.0.45 ping gives no reason; a request that needs the token does, if slurmctld is up. */
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
