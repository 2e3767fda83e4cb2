/** `manager.controller('web').for(webs).owns(deployments).reconcile(…)`: which changes trigger which reconcile. */
import type { Cache } from '../cache/cache.ts';
import type { InformerOptions } from '../cache/informer.ts';
import type { Change } from '../cache/replica.ts';
import type { KubeObject } from '../objects/object.ts';
import type { AnyResource, Resource } from '../objects/resource.ts';
import type { Controller, ControllerOptions, Reconciler } from './controller.ts';
import { allOf, type Predicate } from './predicate.ts';
import { informerSource, type MapFunction, ownerMap, type Source } from './source.ts';

export interface WatchedOptions<T extends KubeObject> {
  /** Only these changes trigger a reconcile. @default every change */
  readonly predicate?: Predicate<T>;
  /** Options of the informer. It is shared, so options that differ from earlier ones throw. */
  readonly cache?: InformerOptions<T>;
}

export class ControllerBuilder {
  readonly #cache: Cache;
  readonly #finish: (
    reconciler: Reconciler,
    sources: readonly Source[],
    options: ControllerOptions,
  ) => Controller;
  readonly #sources: Source[] = [];
  readonly #owned: (() => void)[] = [];
  #for: AnyResource | undefined;
  #options: ControllerOptions = {};

  constructor(
    cache: Cache,
    finish: (reconciler: Reconciler, sources: readonly Source[], options: ControllerOptions) => Controller,
  ) {
    this.#cache = cache;
    this.#finish = finish;
  }

  /** The kind that is reconciled: each change of an object triggers a reconcile of it. */
  for<T extends KubeObject>(resource: Resource<T>, options: WatchedOptions<T> = {}): this {
    if (this.#for !== undefined)
      throw new TypeError(
        `for() was already called with ${this.#for.kind}; a controller reconciles one kind`,
      );
    this.#for = resource;
    return this.watches(resource, (object) => [object.metadata], options);
  }

  /** A change of a child triggers a reconcile of its controlling owner, if that is of the `for` kind. */
  owns<T extends KubeObject>(resource: Resource<T>, options: WatchedOptions<T> = {}): this {
    this.#owned.push(() => {
      if (this.#for === undefined) throw new TypeError(`owns(${resource.kind}) requires for()`);
      this.watches(resource, ownerMap<T>(this.#for), options);
    });
    return this;
  }

  /** A change of any other object triggers a reconcile of each object that `map` returns. */
  watches<T extends KubeObject>(
    resource: Resource<T>,
    map: MapFunction<T>,
    options: WatchedOptions<T> = {},
  ): this {
    const informer = this.#cache.informer(resource, options.cache ?? {});
    const accept = allOf<T>(...(options.predicate === undefined ? [] : [options.predicate]));
    this.#sources.push(informerSource<T>(informer, map, (change: Change<T>) => accept(change)));
    return this;
  }

  /** Any other source of keys to reconcile. */
  source(source: Source): this {
    this.#sources.push(source);
    return this;
  }

  options(options: ControllerOptions): this {
    this.#options = { ...this.#options, ...options };
    return this;
  }

  reconcile(reconciler: Reconciler): Controller {
    for (const add of this.#owned.splice(0)) add();
    return this.#finish(reconciler, this.#sources, this.#options);
  }
}
