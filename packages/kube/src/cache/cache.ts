/** The informers of a program, one per resource type, updated by watches and by the responses to its own writes. */
import { isDeepStrictEqual } from 'node:util';
import type { Client } from '../client/client.ts';
import { aborted, type Clock, systemClock } from '../clock.ts';
import { type Log, silent } from '../log.ts';
import type { KubeObject, Live, ObjectRef } from '../objects/object.ts';
import { type AnyResource, type Resource, resourceName } from '../objects/resource.ts';
import { type AnyInformer, Informer, type InformerOptions, sameResource } from './informer.ts';
import type { ReflectorTuning } from './reflector.ts';

export interface CacheOptions {
  /** Cache only these namespaces. @default all */
  readonly namespaces?: readonly string[] | undefined;
  readonly tuning?: ReflectorTuning;
  readonly clock?: Clock;
  readonly log?: Log;
}

export class Cache {
  readonly #client: Client;
  readonly #options: CacheOptions;
  readonly #informers = new Map<string, AnyInformer>();
  readonly #requestedOptions = new Map<AnyInformer, object>();
  #started: AbortSignal | undefined;
  #leftOut: ReadonlySet<string> = new Set();
  readonly #running: Promise<void>[] = [];

  constructor(client: Client, options: CacheOptions = {}) {
    this.#client = client;
    this.#options = options;
    client.observe({
      written: (resource, object) => this.#of(resource)?.written(object),
      gone: (resource, ref, uid) => this.#of(resource)?.gone(ref, uid),
    });
  }

  /**
   * The informer of a resource, created at the first call. A later call may omit options; options that differ from those of the first
   * call throw, because the informer is shared. An informer that is created after `start` runs at once.
   */
  informer<T extends KubeObject>(resource: Resource<T>, options: InformerOptions<T> = {}): Informer<T> {
    const known = this.#of(resource);
    if (known !== undefined) {
      refuseConflict(resource, this.#requestedOptions.get(known) ?? {}, options);
      return known as Informer<T>;
    }
    const informer = new Informer<T>(
      this.#client,
      resource,
      { ...this.#options.tuning, namespaces: this.#namespaces(), ...options },
      { clock: this.#options.clock ?? systemClock, log: this.#options.log ?? silent },
    );
    this.#informers.set(name(resource), informer as AnyInformer);
    this.#requestedOptions.set(informer as AnyInformer, options);
    if (this.#started !== undefined) this.#running.push(informer.start(this.#started));
    return informer;
  }

  get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef): Live<T> | undefined {
    return this.#need(resource).get(ref);
  }

  list<T extends KubeObject>(resource: Resource<T>, options: { namespace?: string } = {}): Live<T>[] {
    return this.#need(resource).list(options);
  }

  byIndex<T extends KubeObject>(resource: Resource<T>, index: string, value: string): Live<T>[] {
    return this.#need(resource).byIndex(index, value);
  }

  get informers(): readonly AnyInformer[] {
    return [...this.#informers.values()];
  }

  /** Before the start: these of its namespaces are not read, and count as empty. */
  leaveOut(namespaces: ReadonlySet<string>): void {
    this.#leftOut = namespaces;
    for (const informer of this.#informers.values()) informer.leaveOut(namespaces);
  }

  /** Runs all informers, including those created later, until the signal is aborted. */
  async start(signal: AbortSignal): Promise<void> {
    this.#started = signal;
    for (const informer of this.#informers.values()) this.#running.push(informer.start(signal));
    await aborted(signal);
    await Promise.all(this.#running);
  }

  /** Resolves when every informer is filled. */
  async waitForSync(options: { signal?: AbortSignal; timeout?: number } = {}): Promise<void> {
    await Promise.all(this.informers.map((informer) => informer.waitForSync(options)));
  }

  #namespaces(): readonly string[] | undefined {
    return this.#options.namespaces?.filter((namespace) => !this.#leftOut.has(namespace));
  }

  #of(resource: AnyResource): AnyInformer | undefined {
    const informer = this.#informers.get(name(resource));
    return informer !== undefined && sameResource(informer.resource, resource) ? informer : undefined;
  }

  #need<T extends KubeObject>(resource: Resource<T>): Informer<T> {
    const informer = this.#of(resource);
    if (informer === undefined)
      throw new TypeError(
        `no informer for ${resourceName(resource)}: create it with cache.informer() before the start`,
      );
    return informer as Informer<T>;
  }
}

function name(resource: AnyResource): string {
  return `${resource.apiVersion}/${resource.plural}`;
}

/** Throws on options that differ from those of the first call: which one takes effect must not depend on the order of setup. */
function refuseConflict(resource: AnyResource, first: object, later: object): void {
  const before = new Map(Object.entries(first));
  for (const [option, value] of Object.entries(later))
    if (value !== undefined && !isDeepStrictEqual(before.get(option), value))
      throw new TypeError(
        `the informer for ${resourceName(resource)} was created with a different ${option}: pass the same options at every call of cache.informer(), or only at the first`,
      );
}
