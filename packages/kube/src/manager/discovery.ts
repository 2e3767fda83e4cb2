/** Which APIs the cluster serves. An optional one may be absent now and appear later, without a restart of ours. */
import type { Client } from '../client/client.ts';
import type { CallOptions } from '../client/options.ts';
import { type Clock, sleep, systemClock } from '../clock.ts';
import type { Source } from '../controller/source.ts';
import { explain, NotFoundError } from '../errors.ts';
import { type Log, silent } from '../log.ts';
import { keyOf, type ObjectRef } from '../objects/object.ts';
import { type AnyResource, resourceName } from '../objects/resource.ts';

interface Tracked {
  readonly resource: AnyResource;
  available: boolean | undefined;
  readonly listeners: Set<(available: boolean) => void>;
}

export class Discovery {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #period: number;
  readonly #tracked = new Map<string, Tracked>();

  /** `period`: milliseconds between looks at each tracked API. @default 30_000 */
  constructor(client: Client, environment: { clock?: Clock; log?: Log; period?: number } = {}) {
    this.#client = client;
    this.#clock = environment.clock ?? systemClock;
    this.#log = environment.log ?? silent;
    this.#period = environment.period ?? 30_000;
  }

  /** Asks the server whether it serves this resource. */
  async check(resource: AnyResource, options: CallOptions = {}): Promise<boolean> {
    const root = resource.apiVersion.includes('/') ? 'apis' : 'api';
    try {
      const list = await this.#client.json<{ resources?: { name: string }[] }>(
        'GET',
        `/${root}/${resource.apiVersion}`,
        {
          ...options,
          doing: `discover ${resourceName(resource)}`,
        },
      );
      return list.resources?.some(({ name }) => name === resource.plural) ?? false;
    } catch (error) {
      if (error instanceof NotFoundError) return false;
      throw error;
    }
  }

  /** What the last look at a tracked API showed; false before the first. */
  available(resource: AnyResource): boolean {
    return this.#track(resource).available ?? false;
  }

  /** Looks at this API from now on; `listener` is told when it comes and goes. */
  track(resource: AnyResource, listener?: (available: boolean) => void): void {
    const tracked = this.#track(resource);
    if (listener !== undefined) tracked.listeners.add(listener);
  }

  /** A source that has everything reconciled that `affected` names when the API comes or goes. */
  source(resource: AnyResource, affected: () => Iterable<ObjectRef>): Source {
    return {
      start: (enqueue, signal) => {
        const tell = () => {
          for (const ref of affected()) enqueue(keyOf(ref));
        };
        this.track(resource, tell);
        signal.addEventListener('abort', () => this.#track(resource).listeners.delete(tell), { once: true });
      },
    };
  }

  /** One look at every tracked API. */
  async refresh(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#tracked.values()].map((tracked) => this.#look(tracked, signal)));
  }

  /** Looks again and again until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.refresh(signal);
      await sleep(this.#period * (0.75 + 0.5 * this.#clock.random()), signal, this.#clock).catch(
        () => undefined,
      );
    }
  }

  #track(resource: AnyResource): Tracked {
    const name = `${resource.apiVersion}/${resource.plural}`;
    const known = this.#tracked.get(name) ?? { resource, available: undefined, listeners: new Set() };
    this.#tracked.set(name, known);
    return known;
  }

  async #look(tracked: Tracked, signal: AbortSignal): Promise<void> {
    let available: boolean;
    try {
      available = await this.check(tracked.resource, { signal });
    } catch (error) {
      // No answer says nothing about what is served: the last answer stands.
      if (!signal.aborted) this.#log.debug({ reason: explain(error) }, 'discovery failed');
      return;
    }
    if (available === tracked.available) return;
    const isNews = tracked.available !== undefined || available;
    tracked.available = available;
    if (!isNews) return;
    this.#log.info({ resource: resourceName(tracked.resource), available }, 'an optional API came or went');
    for (const listener of tracked.listeners) listener(available);
  }
}
