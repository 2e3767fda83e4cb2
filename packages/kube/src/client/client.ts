/**
 * The typed client: one method per verb. Objects are plain JSON in both directions, so fields that the types do not declare are
 * preserved. The response to each write is passed to the observers (the caches) before the call returns.
 */
import type { IncomingMessage } from 'node:http';
import type { ClusterConfig } from '../config/config.ts';
import { MalformedError, NotFoundError, type Status } from '../errors.ts';
import type { DeepReadonly, Draft, KubeObject, Live, ObjectRef } from '../objects/object.ts';
import { type AnyResource, pathOf, type Resource } from '../objects/resource.ts';
import { Transport, type TransportOptions } from '../transport/transport.ts';
import type {
  ApplyIntent,
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  ListOptions,
  ListPage,
  Patch,
  WatchOptions,
  WriteObserver,
  WriteOptions,
} from './options.ts';
import { readWatch, type WatchEvent } from './watch.ts';
import { deleteBody, describe, hasEnded, refusal, setSelectors } from './wire.ts';

const contentType = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

const EXPLANATION = { milliseconds: 5_000, bytes: 1 << 20 } as const;

export interface ClientOptions extends TransportOptions {
  /** @default the user agent, else `kube-runtime` */
  readonly fieldManager?: string;
}

export class Client {
  readonly transport: Transport;
  readonly fieldManager: string;
  readonly #observers: Set<WriteObserver>;
  readonly #guard: (() => void) | undefined;

  constructor(
    transport: Transport,
    options: { fieldManager?: string; observers?: Set<WriteObserver>; guard?: () => void } = {},
  ) {
    this.transport = transport;
    this.fieldManager = options.fieldManager ?? 'kube-runtime';
    this.#observers = options.observers ?? new Set();
    this.#guard = options.guard;
  }

  /** A client on the same connections that calls `guard` right before it sends a write; if `guard` throws, nothing is sent. */
  guarded(guard: () => void): Client {
    return new Client(this.transport, { fieldManager: this.fieldManager, observers: this.#observers, guard });
  }

  observe(observer: WriteObserver): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  get config(): ClusterConfig {
    return this.transport.config;
  }

  async get<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options: CallOptions & { subresource?: string } = {},
  ): Promise<Live<T>> {
    const path = pathOf(resource, { ...ref, subresource: options.subresource });
    return this.json<Live<T>>('GET', path, { ...options, doing: `get ${describe(resource, ref)}` });
  }

  /** Like get, but a missing object is `undefined`. */
  async find<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options: CallOptions = {},
  ): Promise<Live<T> | undefined> {
    try {
      return await this.get(resource, ref, options);
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  /** All matching objects, fetched in pages. For lists that may be very long use {@link pages}. */
  async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<ListPage<T>> {
    const items: Live<T>[] = [];
    let resourceVersion = '';
    for await (const page of this.pages(resource, options)) {
      for (const item of page.items) items.push(item);
      ({ resourceVersion } = page);
    }
    return { items, resourceVersion };
  }

  /** The pages of a list, all of the same resourceVersion. */
  async *pages<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions = {},
  ): AsyncGenerator<ListPage<T>, void, undefined> {
    const doing = `list ${resource.plural}`;
    let next = '';
    do {
      const query = new URLSearchParams({ limit: String(options.pageSize ?? 500) });
      setSelectors(query, options);
      if (next !== '') query.set('continue', next);
      const path = `${pathOf(resource, { namespace: options.namespace })}?${query.toString()}`;
      const list = await this.json<{
        metadata?: { resourceVersion?: string; continue?: string };
        items?: Live<T>[] | null;
      }>('GET', path, { ...options, doing });
      // The items of a list have no apiVersion and kind.
      const items = (list.items ?? []).map((item) =>
        item.kind === undefined ? { ...item, apiVersion: resource.apiVersion, kind: resource.kind } : item,
      );
      yield { items, resourceVersion: list.metadata?.resourceVersion ?? '' };
      next = list.metadata?.continue ?? '';
    } while (next !== '');
  }

  create<T extends KubeObject>(
    resource: Resource<T>,
    object: Draft<T>,
    options: WriteOptions = {},
  ): Promise<Live<T>> {
    const { namespace, name, generateName = '' } = object.metadata;
    const at = { namespace, name: options.subresource === undefined ? undefined : name };
    const doing = `create ${describe(resource, { namespace, name: name ?? `${generateName}*` })}`;
    return this.#write(resource, 'POST', at, options, { body: object, doing });
  }

  /**
   * Server-side apply: sets the given fields, and removes fields that this manager applied before and omits now. Creates the object if it
   * does not exist (but never a subresource).
   */
  apply<T extends KubeObject>(
    resource: Resource<T>,
    object: ApplyIntent<T>,
    options: ApplyOptions = {},
  ): Promise<Live<T>> {
    const { namespace, name } = object.metadata;
    // Optional for callers, but required by the server.
    const body = { ...(object as object), apiVersion: resource.apiVersion, kind: resource.kind };
    const doing = `apply ${describe(resource, { namespace, name })}`;
    const what = { body, doing, type: contentType.apply, force: options.force ?? true };
    return this.#write(resource, 'PATCH', { namespace, name }, options, what);
  }

  patch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    { type, body }: Patch,
    options: WriteOptions = {},
  ): Promise<Live<T>> {
    const doing = `patch ${describe(resource, ref)}`;
    return this.#write(resource, 'PATCH', ref, options, { body, doing, type: contentType[type] });
  }

  /** A JSON merge patch: sets the given fields; null removes a field; lists are replaced. */
  mergePatch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    body: unknown,
    options: WriteOptions = {},
  ): Promise<Live<T>> {
    return this.patch(resource, ref, { type: 'merge', body }, options);
  }

  /** PUT. If the object has a resourceVersion and has changed since, it fails with a {@link ConflictError}. */
  replace<T extends KubeObject>(
    resource: Resource<T>,
    object: DeepReadonly<T>,
    options: WriteOptions = {},
  ): Promise<Live<T>> {
    const { namespace, name } = object.metadata;
    const doing = `replace ${describe(resource, { namespace, name })}`;
    return this.#write(resource, 'PUT', { namespace, name }, options, { body: object, doing });
  }

  /** `true`: the object is gone. `false`: it is being deleted (finalizers, grace period) or did not exist. */
  async delete(resource: AnyResource, ref: ObjectRef, options: DeleteOptions = {}): Promise<boolean> {
    const { uid } = options;
    let answer: Live | Status;
    try {
      answer = await this.json<Live | Status>('DELETE', pathOf(resource, ref), {
        ...options,
        body: deleteBody(options),
        doing: `delete ${describe(resource, ref)}`,
        guard: this.#guard,
      });
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      // Without a uid the cached object may be a later one with the same name, so it is kept.
      if (options.dryRun !== true && uid !== undefined) this.#gone(resource, ref, uid);
      return false;
    }
    if (options.dryRun === true) return false;
    if (answer.kind === 'Status') {
      this.#gone(resource, ref, (answer as Status).details?.uid ?? uid);
      return true;
    }
    return this.#seen(resource, answer as Live);
  }

  /** Deletes all matching objects. Caches are updated by their watches only. */
  async deleteCollection(
    resource: AnyResource,
    options: Omit<ListOptions, 'resourceVersion' | 'pageSize'> &
      Pick<DeleteOptions, 'propagation' | 'gracePeriodSeconds'>,
  ): Promise<void> {
    const query = new URLSearchParams();
    setSelectors(query, options);
    await this.json('DELETE', `${pathOf(resource, { namespace: options.namespace })}?${query.toString()}`, {
      ...options,
      body: deleteBody({ ...options, resourceVersion: undefined }),
      doing: `delete ${resource.plural}`,
      guard: this.#guard,
    });
  }

  /** One watch connection. Resolves when the server ends it; see {@link readWatch}. Prefer the cache. */
  async watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions & { signal: AbortSignal },
    onEvent: (event: WatchEvent<T>) => void,
  ): Promise<void> {
    const query = new URLSearchParams({ watch: 'true', allowWatchBookmarks: 'true' });
    setSelectors(query, options);
    if (options.timeoutSeconds !== undefined) query.set('timeoutSeconds', String(options.timeoutSeconds));
    if (options.sendInitialEvents === true) {
      query.set('sendInitialEvents', 'true');
      query.set('resourceVersionMatch', 'NotOlderThan');
    }
    const doing = `watch ${resource.plural}`;
    const path = `${pathOf(resource, { namespace: options.namespace })}?${query.toString()}`;
    const message = await this.open(path, { signal: options.signal, timeout: options.timeout, doing });
    return readWatch(message, { doing, idle: options.idle ?? 180_000 }, onEvent);
  }

  /** Creates a subresource that has its own kind (Eviction, Binding, TokenRequest). */
  post<Answer>(
    resource: AnyResource,
    ref: ObjectRef,
    subresource: string,
    body: unknown,
    options: CallOptions & { doing?: string } = {},
  ): Promise<Answer> {
    const doing = options.doing ?? `create ${subresource} of ${describe(resource, ref)}`;
    return this.json('POST', pathOf(resource, { ...ref, subresource }), {
      ...options,
      doing,
      body,
      guard: this.#guard,
    });
  }

  /** Throws if a write would be refused by the guard: for side effects other than HTTP writes. */
  assertMayWrite(): void {
    this.#guard?.();
  }

  /** A GET whose body is a stream. Error responses throw as for any other call. */
  async open(
    path: string,
    options: CallOptions & { doing: string; accept?: string },
  ): Promise<IncomingMessage> {
    const message = await this.transport.open({
      method: 'GET',
      path,
      headers: { Accept: options.accept ?? 'application/json' },
      signal: options.signal,
      timeout: options.timeout,
      doing: options.doing,
    });
    const { statusCode: status = 0, headers } = message;
    if (status >= 200 && status < 300) return message;
    throw refusal(options.doing, { status, headers, body: await this.#explanation(message) });
  }

  /** A request to any path, for endpoints that the other methods do not cover. */
  async json<T>(
    method: string,
    path: string,
    options: CallOptions & {
      body?: unknown;
      type?: string;
      doing?: string;
      guard?: (() => void) | undefined;
    } = {},
  ): Promise<T> {
    const doing = options.doing ?? `${method} ${path.split('?', 1)[0]}`;
    const response = await this.transport.request({
      method,
      path,
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      headers: {
        Accept: 'application/json',
        ...(options.body === undefined ? {} : { 'Content-Type': options.type ?? 'application/json' }),
      },
      signal: options.signal,
      timeout: options.timeout,
      guard: options.guard,
      doing,
    });
    if (response.status < 200 || response.status >= 300) throw refusal(doing, response);
    try {
      return JSON.parse(response.body.toString('utf8')) as T;
    } catch (cause) {
      throw new MalformedError(`cannot ${doing}: the answer is not JSON`, { cause });
    }
  }

  close(): void {
    this.transport.close();
  }

  /** The body of an error response, as much of it as arrives in time: the status is known already. */
  async #explanation(message: IncomingMessage): Promise<Buffer> {
    const cancel = this.transport.clock.after(EXPLANATION.milliseconds, () => message.destroy());
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of message) {
        chunks.push(chunk as Buffer);
        bytes += (chunk as Buffer).length;
        if (bytes > EXPLANATION.bytes) break;
      }
    } catch {
      // The connection broke: use what has arrived.
    } finally {
      cancel();
    }
    return Buffer.concat(chunks);
  }

  async #write<T extends KubeObject>(
    resource: Resource<T>,
    method: string,
    at: { namespace?: string | undefined; name?: string | undefined },
    options: WriteOptions,
    what: { body: unknown; doing: string; type?: string; force?: boolean },
  ): Promise<Live<T>> {
    const path = pathOf(resource, { ...at, subresource: options.subresource });
    let query = `fieldManager=${encodeURIComponent(options.fieldManager ?? this.fieldManager)}`;
    if (options.dryRun === true) query += '&dryRun=All';
    if (what.force !== undefined) query += `&force=${what.force}`;
    const answer = await this.json<Live<T>>(method, `${path}?${query}`, {
      signal: options.signal,
      timeout: options.timeout,
      body: what.body,
      doing: what.doing,
      guard: this.#guard,
      ...(what.type === undefined ? {} : { type: what.type }),
    });
    // Only a response of the resource's own kind is a new state of the object; a Scale or an Eviction is not.
    if (options.dryRun !== true && answer.kind === resource.kind) this.#seen(resource, answer);
    return answer;
  }

  /** Passes a written object to the observers. Returns whether the write removed it. */
  #seen(resource: AnyResource, object: Live): boolean {
    const ended = hasEnded(object);
    if (ended) this.#gone(resource, object.metadata, object.metadata.uid);
    else for (const observer of this.#observers) observer.written(resource, object);
    return ended;
  }

  #gone(resource: AnyResource, ref: ObjectRef, uid: string | undefined): void {
    for (const observer of this.#observers) observer.gone(resource, ref, uid);
  }
}

export function createClient(config: ClusterConfig, options: ClientOptions = {}): Client {
  const fieldManager = options.fieldManager ?? options.userAgent;
  return new Client(new Transport(config, options), fieldManager === undefined ? {} : { fieldManager });
}
