/** Which APIs the cluster serves. An optional API may be installed later; the program need not restart. */
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

  /** `period`: polling interval of tracked APIs in milliseconds. @default 30_000 */
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

  /** Whether a tracked API was served at the last poll; false before the first. */
  available(resource: AnyResource): boolean {
    return this.#track(resource).available ?? false;
  }

  /** Polls this API from now on; calls `listener` when it is added or removed. */
  track(resource: AnyResource, listener?: (available: boolean) => void): void {
    const tracked = this.#track(resource);
    if (listener !== undefined) tracked.listeners.add(listener);
  }

  /** A source that enqueues the objects of `affected` when the API is added or removed. */
  source(resource: AnyResource, affected: () => Iterable<ObjectRef>): Source {
    return {
      start: (enqueue, signal) => {
        const enqueueAll = () => {
          for (const ref of affected()) enqueue(keyOf(ref));
        };
        this.track(resource, enqueueAll);
        signal.addEventListener('abort', () => this.#track(resource).listeners.delete(enqueueAll), {
          once: true,
        });
      },
    };
  }

  /** Polls every tracked API once. */
  async refresh(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#tracked.values()].map((tracked) => this.#refreshOne(tracked, signal)));
  }

  /** Polls until the signal is aborted. */
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

  async #refreshOne(tracked: Tracked, signal: AbortSignal): Promise<void> {
    let available: boolean;
    try {
      available = await this.check(tracked.resource, { signal });
    } catch (error) {
      // A failed request does not mean that the API is gone: keep the last result.
      if (!signal.aborted) this.#log.debug({ reason: explain(error) }, 'discovery failed');
      return;
    }
    if (available === tracked.available) return;
    const isNews = tracked.available !== undefined || available;
    tracked.available = available;
    if (!isNews) return;
    this.#log.info(
      { resource: resourceName(tracked.resource), available },
      'an optional API was added or removed',
    );
    for (const listener of tracked.listeners) listener(available);
  }
}
