/** Kubernetes as a map of objects: the verbs that our reconcilers use, with their preconditions, and nothing that takes time. */
import { isDeepStrictEqual } from 'node:util';
import {
  AlreadyExistsError,
  type ApiError,
  Client,
  ConflictError,
  NotFoundError,
} from '@slurm-operator/kube';
import { applied, type Json, merged, strategicallyMerged } from './merge.ts';

export interface StoredObject extends Json {
  metadata: {
    name: string;
    namespace?: string;
    uid: string;
    resourceVersion: string;
    generation?: number;
    creationTimestamp: string;
    deletionTimestamp?: string;
    finalizers?: string[];
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    ownerReferences?: { uid: string; kind: string; name: string; controller?: boolean }[];
  };
}

interface Asked {
  readonly plural: string;
  readonly apiVersion: string;
  readonly namespace: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
}

export class MemoryKube {
  /** plural → namespace/name → object. Objects are replaced, never changed. */
  readonly #objects = new Map<string, Map<string, StoredObject>>();
  readonly #appliedBy = new Map<string, Json>();
  readonly #now: () => number;
  #version = 0;
  /** Plurals that changed since they were last asked for. */
  readonly #changed = new Set<string>();
  /** Called for every pod deletion, before the pod is deleted. */
  onPodDeleted: (pod: StoredObject, by: string) => void = () => {};

  constructor(now: () => number) {
    this.#now = now;
  }

  list<T = StoredObject>(plural: string): T[] {
    return [...(this.#objects.get(plural)?.values() ?? [])] as T[];
  }

  get(plural: string, namespace: string, name: string): StoredObject | undefined {
    return this.#objects.get(plural)?.get(`${namespace}/${name}`);
  }

  get version(): string {
    return String(this.#version);
  }

  takeChanged(): string[] {
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  create(plural: string, object: Json): StoredObject {
    const given = object['metadata'] as Partial<StoredObject['metadata']>;
    const name = given.name ?? `${String((given as Json)['generateName'])}${this.#version}`;
    const key = `${given.namespace ?? ''}/${name}`;
    if (this.#objects.get(plural)?.has(key)) throw failure('AlreadyExists', `${plural} ${key} exists`);
    this.#version += 1;
    const stored = {
      ...object,
      metadata: {
        ...given,
        name,
        uid: `uid-${this.#version}`,
        resourceVersion: String(this.#version),
        generation: 1,
        creationTimestamp: this.#stamp(),
      },
    } as StoredObject;
    this.#put(plural, key, stored);
    return stored;
  }

  /** Replaces an object by what `change` makes of it. */
  change(
    plural: string,
    object: StoredObject,
    change: (object: StoredObject) => Json,
  ): StoredObject | undefined {
    const key = `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
    const live = this.#objects.get(plural)?.get(key);
    if (live === undefined || live.metadata.uid !== object.metadata.uid) return undefined;
    return this.#replace(plural, key, live, change(live));
  }

  /** Takes an object away at once, with all that it owns. */
  remove(plural: string, object: StoredObject): void {
    const key = `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
    this.#objects.get(plural)?.delete(key);
    this.#appliedBy.delete(`${plural} ${key}`);
    this.#appliedBy.delete(`${plural} ${key} status`);
    this.#changed.add(plural);
    for (const [other, objects] of this.#objects)
      for (const owned of objects.values())
        if (owned.metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid))
          this.delete(other, owned, 'garbage collector');
  }

  /** Asks for its deletion: finalizers and kubelets may take their time. */
  delete(plural: string, object: StoredObject, by: string): StoredObject | undefined {
    const key = `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
    const live = this.#objects.get(plural)?.get(key);
    if (live === undefined || live.metadata.uid !== object.metadata.uid) return undefined;
    if (plural === 'pods' && live.metadata.deletionTimestamp === undefined) this.onPodDeleted(live, by);
    const runs =
      plural === 'pods' && (live['spec'] as { nodeName?: string } | undefined)?.nodeName !== undefined;
    if (!runs && (live.metadata.finalizers ?? []).length === 0) {
      this.remove(plural, live);
      return undefined;
    }
    const deletionTimestamp = live.metadata.deletionTimestamp ?? this.#stamp();
    return this.#replace(plural, key, live, { ...live, metadata: { ...live.metadata, deletionTimestamp } });
  }

  /** One request of a client. `by`: who asks. */
  request(method: string, path: string, by: string, body?: Json, type = ''): unknown {
    const asked = parse(path);
    const { plural, namespace, name } = asked;
    const key = `${namespace}/${name ?? ''}`;
    if (method === 'GET' && name === undefined) return this.#listed(asked);
    if (method === 'POST')
      return path.includes('dryRun=All') ? (body ?? {}) : this.create(plural, body ?? {});
    const live = this.#objects.get(plural)?.get(key);
    if (method === 'PATCH' && type.includes('apply')) return this.#apply(asked, key, live, body ?? {});
    if (live === undefined) throw failure('NotFound', `${plural} ${key} not found`);
    if (method === 'GET') return live;
    if (method === 'DELETE') return this.#deleted(asked, live, by, body);
    if (method !== 'PATCH') throw new Error(`${method} ${path} is not simulated`);
    const { uid, resourceVersion, ...metadata } = (body?.['metadata'] ?? {}) as Json;
    if (
      (uid !== undefined && uid !== live.metadata.uid) ||
      (resourceVersion !== undefined && resourceVersion !== live.metadata.resourceVersion)
    )
      throw failure('Conflict', `${plural} ${key} has changed`);
    const merge = type.includes('strategic') ? strategicallyMerged : merged;
    const patch = { ...body, ...(body?.['metadata'] === undefined ? {} : { metadata }) };
    return this.#replace(plural, key, live, merge(live, patch) as Json);
  }

  #listed({ plural, apiVersion, namespace, query }: Asked): Json {
    const field = /^metadata\.name=(.*)$/.exec(query.get('fieldSelector') ?? '')?.[1];
    const label = /^([^=,! ]+)=([^=, ]*)$/.exec(query.get('labelSelector') ?? '');
    const items = this.list(plural).filter(
      ({ metadata }) =>
        (namespace === '' || metadata.namespace === namespace) &&
        (field === undefined || metadata.name === field) &&
        (label === null || metadata.labels?.[label[1] ?? ''] === label[2]),
    );
    return { apiVersion, kind: 'List', metadata: { resourceVersion: this.version }, items };
  }

  #apply(
    { plural, namespace, name = '', subresource }: Asked,
    key: string,
    live: StoredObject | undefined,
    body: Json,
  ): StoredObject {
    const memory = `${plural} ${key}${subresource === undefined ? '' : ' status'}`;
    const before = this.#appliedBy.get(memory) ?? {};
    if (live === undefined && subresource !== undefined)
      throw failure('NotFound', `${plural} ${key} not found`);
    this.#appliedBy.set(memory, body);
    if (live === undefined)
      return this.create(plural, { ...body, metadata: { ...(body['metadata'] as Json), namespace, name } });
    return this.#replace(plural, key, live, applied(live, before, body) as Json) ?? live;
  }

  #deleted({ plural }: Asked, live: StoredObject, by: string, body?: Json): Json {
    const wanted = (body?.['preconditions'] ?? {}) as { uid?: string; resourceVersion?: string };
    if (
      (wanted.uid !== undefined && wanted.uid !== live.metadata.uid) ||
      (wanted.resourceVersion !== undefined && wanted.resourceVersion !== live.metadata.resourceVersion)
    )
      throw failure('Conflict', `${plural} ${live.metadata.name} has changed`);
    const left = this.delete(plural, live, by);
    if (left !== undefined && body?.['gracePeriodSeconds'] === 0) this.remove(plural, left);
    return left ?? { kind: 'Status', status: 'Success', details: { uid: live.metadata.uid } };
  }

  #replace(plural: string, key: string, live: StoredObject, wanted: Json): StoredObject | undefined {
    if (isDeepStrictEqual(live, wanted)) return live;
    this.#version += 1;
    const next = { ...wanted } as StoredObject;
    const { uid, creationTimestamp } = live.metadata;
    const grown = isDeepStrictEqual(live['spec'], next['spec']) ? 0 : 1;
    const generation = (live.metadata.generation ?? 1) + grown;
    next.metadata = {
      ...next.metadata,
      uid,
      creationTimestamp,
      generation,
      resourceVersion: String(this.#version),
    };
    if (next.metadata.deletionTimestamp !== undefined && plural !== 'pods')
      if ((next.metadata.finalizers ?? []).length === 0) {
        this.remove(plural, live);
        return next;
      }
    this.#put(plural, key, next);
    return next;
  }

  #put(plural: string, key: string, object: StoredObject): void {
    const objects = this.#objects.get(plural) ?? new Map<string, StoredObject>();
    this.#objects.set(plural, objects.set(key, object));
    this.#changed.add(plural);
  }

  #stamp(): string {
    return new Date(this.#now()).toISOString().replace(/\.\d+Z$/, 'Z');
  }
}

/** A client of it. `spend` is asked before every write, and may throw: that operator is dead. */
export class MemoryClient extends Client {
  readonly #kube: MemoryKube;
  readonly #spend: () => void;

  constructor(kube: MemoryKube, spend: () => void) {
    super(undefined as never, { fieldManager: 'slurm-operator' });
    this.#kube = kube;
    this.#spend = spend;
  }

  override json<T>(
    method: string,
    path: string,
    options: { body?: unknown; type?: string } = {},
  ): Promise<T> {
    try {
      if (method !== 'GET') this.#spend();
      const body = options.body as Json | undefined;
      return Promise.resolve(this.#kube.request(method, path, 'operator', body, options.type) as T);
    } catch (error) {
      return Promise.reject(error);
    }
  }
}

const errors = { AlreadyExists: AlreadyExistsError, Conflict: ConflictError, NotFound: NotFoundError };

function failure(reason: keyof typeof errors, message: string): ApiError {
  return new errors[reason]('cannot do that', { status: reason === 'NotFound' ? 404 : 409, text: message });
}

function parse(path: string): Asked {
  const [bare = '', query = ''] = path.split('?');
  const parts = bare.split('/').filter((part) => part !== '');
  const apiVersion = parts[0] === 'api' ? (parts[1] ?? '') : `${parts[1]}/${parts[2]}`;
  const rest = parts.slice(parts[0] === 'api' ? 2 : 3);
  const namespace = rest[0] === 'namespaces' && rest.length > 2 ? (rest[1] ?? '') : '';
  const [plural = '', name, subresource] = namespace === '' ? rest : rest.slice(2);
  return { plural, apiVersion, namespace, name, subresource, query: new URLSearchParams(query) };
}
