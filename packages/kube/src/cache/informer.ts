/** A local, indexed, read-only copy of one resource type that is kept current and notifies subscribers of each change. */
import type { Client } from '../client/client.ts';
import { type Clock, systemClock } from '../clock.ts';
import { explain, NotSyncedError } from '../errors.ts';
import { type Log, silent } from '../log.ts';
import { type KubeObject, keyOf, type Live, type ObjectKey, type ObjectRef } from '../objects/object.ts';
import { type AnyResource, type Resource, resourceName } from '../objects/resource.ts';
import { dropBookkeeping, type Transform } from './projection.ts';
import { Reflector, type ReflectorTuning } from './reflector.ts';
import { type Change, Replica } from './replica.ts';
import { fieldMatcher, labelMatcher } from './selector.ts';
import { type Indexer, Store } from './store.ts';

export interface InformerOptions<T extends KubeObject> extends ReflectorTuning {
  /** @default all namespaces */
  readonly namespaces?: readonly string[] | undefined;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** What to keep of each object. @default all but managedFields and kubectl's annotation */
  readonly transform?: Transform<T>;
  readonly indexes?: Readonly<Record<string, Indexer<T>>>;
}

export type Subscriber<T extends KubeObject> = (change: Change<T>) => void;

export class Informer<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly #store = new Store<T>();
  #parts: readonly { readonly namespace: string | undefined; replica: Replica<T>; reflector: Reflector<T> }[];
  readonly #unsynced: Set<string | undefined>;
  readonly #subscribers = new Set<Subscriber<T>>();
  readonly #waiting = new Set<() => void>();
  readonly #clock: Clock;
  readonly #log: Log;
  #running: Promise<void> | undefined;

  constructor(
    client: Client,
    resource: Resource<T>,
    options: InformerOptions<T> = {},
    environment: { clock?: Clock; log?: Log } = {},
  ) {
    this.resource = resource;
    this.#clock = environment.clock ?? systemClock;
    this.#log = (environment.log ?? silent).child({ resource: resourceName(resource) });
    for (const [name, indexer] of Object.entries(options.indexes ?? {})) this.#store.addIndex(name, indexer);
    const byLabel = labelMatcher(options.labelSelector);
    const byField = fieldMatcher(options.fieldSelector);
    const namespaces = resource.namespaced ? (options.namespaces ?? [undefined]) : [undefined];
    this.#unsynced = new Set(namespaces);
    this.#parts = namespaces.map((namespace) => {
      const replica = new Replica<T>({
        store: this.#store,
        namespace,
        matches: (object) => byLabel(object) && byField(object),
        transform: options.transform ?? dropBookkeeping,
        onChange: (change) => this.#notify(change),
      });
      const onSynced = () => {
        this.#unsynced.delete(namespace);
        if (this.#unsynced.size === 0) for (const wake of this.#waiting) wake();
      };
      const reflector = new Reflector<T>({
        ...options,
        client,
        resource,
        replica,
        namespace,
        onSynced,
        clock: this.#clock,
        log: this.#log,
      });
      return { namespace, replica, reflector };
    });
  }

  /** Before the start: these namespaces are not read. */
  leaveOut(namespaces: ReadonlySet<string>): void {
    this.#parts = this.#parts.filter(
      ({ namespace }) => namespace === undefined || !namespaces.has(namespace),
    );
    for (const namespace of namespaces) this.#unsynced.delete(namespace);
  }

  /** Runs until the signal is aborted. A second call returns the same promise. */
  start(signal: AbortSignal): Promise<void> {
    this.#running ??= Promise.all(this.#parts.map((part) => part.reflector.run(signal))).then(
      () => undefined,
    );
    return this.#running;
  }

  get synced(): boolean {
    return this.#unsynced.size === 0;
  }

  /** Why it is not synced, or why its last watch failed; undefined if there is no problem. */
  get problem(): string | undefined {
    const failures = this.#parts.flatMap(({ reflector }) =>
      reflector.failure === undefined ? [] : [reflector.failure],
    );
    if (failures.length > 0) return explain(failures[0]);
    return this.synced ? undefined : 'the first list is in progress';
  }

  /** Resolves when the first list is complete; rejects with the reason after `timeout` milliseconds. */
  async waitForSync(options: { signal?: AbortSignal; timeout?: number } = {}): Promise<void> {
    if (this.synced) return;
    const timeout = options.timeout ?? 60_000;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const fail = (why: string) =>
      reject(
        new NotSyncedError(
          `cache of ${resourceName(this.resource)} did not sync: ${why} (last problem: ${this.problem ?? 'none'})`,
        ),
      );
    const cancel = this.#clock.after(timeout, () => fail(`timed out after ${timeout} ms`));
    const stop = () => fail('aborted');
    options.signal?.addEventListener('abort', stop, { once: true });
    if (options.signal?.aborted === true) stop();
    this.#waiting.add(resolve);
    try {
      await promise;
    } finally {
      cancel();
      options.signal?.removeEventListener('abort', stop);
      this.#waiting.delete(resolve);
    }
  }

  get size(): number {
    return this.#store.size;
  }

  get(ref: ObjectRef | ObjectKey): Live<T> | undefined {
    return this.#store.get(typeof ref === 'string' ? ref : keyOf(ref));
  }

  /** A snapshot, in no particular order. */
  list(options: { namespace?: string } = {}): Live<T>[] {
    return this.#store.list(options.namespace);
  }

  byIndex(name: string, value: string): Live<T>[] {
    return this.#store.byIndex(name, value);
  }

  /** Adds an index, before or after the start. An index that exists already is kept. */
  addIndex(name: string, indexer: Indexer<T>): void {
    if (!this.#store.hasIndex(name)) this.#store.addIndex(name, indexer);
  }

  /** Calls the subscriber with `added` for each cached object, then with each change after it is stored. */
  subscribe(subscriber: Subscriber<T>): () => void {
    this.#subscribers.add(subscriber);
    for (const object of this.#store.list())
      this.#call(subscriber, { type: 'added', key: keyOf(object), object });
    return () => this.#subscribers.delete(subscriber);
  }

  /** Takes the response to a write of this program. */
  written(object: Live<T>): void {
    this.#partOf(object.metadata.namespace)?.replica.written(object);
  }

  /** Takes the response to a delete of this program. */
  gone(ref: ObjectRef, uid: string | undefined): void {
    this.#partOf(ref.namespace)?.replica.gone(ref, uid);
  }

  /** Fills the store without a server: for tests. */
  adopt(objects: Iterable<Live<T>>, resourceVersion: string): void {
    for (const { replica } of this.#parts) {
      replica.beginList();
      for (const object of objects) replica.listed(object);
      replica.endList(resourceVersion);
    }
    this.#unsynced.clear();
  }

  #partOf(namespace: string | undefined) {
    return this.#parts.find((part) => part.namespace === undefined || part.namespace === namespace);
  }

  #notify(change: Change<T>): void {
    for (const subscriber of this.#subscribers) this.#call(subscriber, change);
  }

  #call(subscriber: Subscriber<T>, change: Change<T>): void {
    try {
      subscriber(change);
    } catch (error) {
      this.#log.error(
        { err: error, key: change.key },
        'a subscriber threw; the change is not repeated to it',
      );
    }
  }
}

/** An informer of any type, where its type does not matter. */
// oxlint-disable-next-line typescript/no-explicit-any -- subscribers are contravariant in the object type
export type AnyInformer = Informer<any>;

export function sameResource(left: AnyResource, right: AnyResource): boolean {
  return left.apiVersion === right.apiVersion && left.plural === right.plural;
}
