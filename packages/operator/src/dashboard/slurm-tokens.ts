/** Slurm tokens of the dashboard and of its users, kept in memory for the four minutes in which they can be used again. */
import { hash } from 'node:crypto';
import { type Clock, type TokenProvider, Unauthenticated } from '@slurm-operator/slurm';
import { type ExchangeClient, ExchangeRefused, type IssuedToken, type TokenRequest } from './ask-exchange.ts';

/** A token with less left than this is replaced. */
const earlyMs = 60_000;
const mostKept = 2_000;

export class SlurmTokens {
  readonly #exchange: Pick<ExchangeClient, 'ask'>;
  readonly #clock: Clock;
  readonly #kept = new Map<string, IssuedToken>();

  constructor(exchange: Pick<ExchangeClient, 'ask'>, clock: Clock) {
    this.#exchange = exchange;
    this.#clock = clock;
  }

  /** Throws {@link ExchangeRefused}. */
  async get(request: TokenRequest, signal: AbortSignal): Promise<IssuedToken> {
    const { bearer, namespace, cluster, scope, onBehalfOf } = request;
    const key = hash('sha256', JSON.stringify([bearer, namespace, cluster, scope, onBehalfOf]));
    const known = this.#kept.get(key);
    if (known !== undefined && this.#clock.now() < known.expiresAt - earlyMs) return known;
    try {
      const issued = await this.#exchange.ask(request, signal);
      this.#kept.delete(key);
      this.#kept.set(key, issued);
      for (const oldest of this.#kept.keys()) {
        if (this.#kept.size <= mostKept) break;
        this.#kept.delete(oldest);
      }
      return issued;
    } catch (error) {
      // While the operator restarts, a token that is still valid is as good as a new one.
      const isAway = error instanceof ExchangeRefused && (error.status === 503 || error.status === 429);
      if (isAway && known !== undefined && this.#clock.now() < known.expiresAt - 5_000) return known;
      throw error;
    }
  }

  /** For a client that lives longer than a token. */
  provider(request: Omit<TokenRequest, 'bearer'>, bearer: () => Promise<string>): TokenProvider {
    return {
      token: async (signal = AbortSignal.timeout(20_000)) => {
        try {
          return (await this.get({ ...request, bearer: await bearer() }, signal)).token;
        } catch (error) {
          if (error instanceof ExchangeRefused) throw new Unauthenticated(error.message, { cause: error });
          throw error;
        }
      },
    };
  }
}
