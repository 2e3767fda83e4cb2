/**
 * Namespaces of `namespaces` in which the program may read nothing: the role of a deleted namespace went with it. They are left out, so
 * that the others are served. A program that regains the access starts again, because caches that are filled one after another would
 * show objects without what belongs to them.
 */
import type { Cache } from '../cache/cache.ts';
import type { Client } from '../client/client.ts';
import { type Clock, sleep } from '../clock.ts';
import { AccessRegainedError, ForbiddenError } from '../errors.ts';
import type { Log } from '../log.ts';
import { type AnyResource, pathOf } from '../objects/resource.ts';

/** Asked this often before a namespace is left out: an API server learns of new roles with a delay. */
const ATTEMPTS = 3;
const BETWEEN_ATTEMPTS = 2_000;
const PERIOD = 30_000;

export class RefusedNamespaces {
  readonly name = 'refused namespaces';
  readonly #client: Client;
  readonly #cache: Cache;
  readonly #clock: Clock;
  readonly #log: Log;
  #refused: readonly string[] = [];

  constructor(client: Client, cache: Cache, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#client = client;
    this.#cache = cache;
    this.#clock = clock;
    this.#log = log;
  }

  /** Before the cache starts. If all are refused, none is left out: then the caches say why. */
  async leaveOut(namespaces: readonly string[], signal: AbortSignal): Promise<void> {
    let refused = namespaces;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      refused = await this.#refusedOf(refused, signal);
      if (refused.length === 0) return;
      if (attempt < ATTEMPTS) await sleep(BETWEEN_ATTEMPTS, signal, this.#clock);
    }
    if (refused.length === namespaces.length) return;
    this.#refused = refused;
    this.#cache.leaveOut(new Set(refused));
    this.#log.error(
      { namespaces: refused },
      'namespaces are left out because nothing may be read in them: create their Role again, or remove them from --namespaces',
    );
  }

  /** Ends with an error as soon as one of them can be read. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(PERIOD * (0.9 + 0.2 * this.#clock.random()), signal, this.#clock).catch(() => undefined);
      if (signal.aborted) return;
      const still = new Set(await this.#refusedOf(this.#refused, signal));
      const regained = this.#refused.filter((namespace) => !still.has(namespace));
      if (regained.length > 0 && !signal.aborted)
        throw new AccessRegainedError(
          `namespace ${regained.join(', ')} can be read now: starting again to include it`,
        );
    }
  }

  async #refusedOf(namespaces: readonly string[], signal: AbortSignal): Promise<string[]> {
    const resources = this.#cache.informers
      .map(({ resource }): AnyResource => resource)
      .filter(({ namespaced }) => namespaced);
    if (resources.length === 0) return [];
    const isRefused = async (namespace: string): Promise<boolean> => {
      for (const resource of resources)
        if (!(await this.#isForbidden(resource, namespace, signal))) return false;
      return true;
    };
    const answers = await Promise.all(namespaces.map(isRefused));
    return namespaces.filter((_, at) => answers[at]);
  }

  /** Any other failure is no refusal: the cache tries again and says why. */
  async #isForbidden(resource: AnyResource, namespace: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#client.json('GET', `${pathOf(resource, { namespace })}?limit=1`, {
        signal,
        doing: `list ${resource.plural}`,
      });
      return false;
    } catch (error) {
      return error instanceof ForbiddenError;
    }
  }
}
