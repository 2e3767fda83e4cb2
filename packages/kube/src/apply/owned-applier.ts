/**
 * Applies the desired children of an owner, by server-side apply with one field manager: a field that is removed from the intent is
 * removed from the child. An apply is sent only if the intent differs from the last applied one, or if the live object no longer
 * matches it. So reconciling an unchanged owner sends no request.
 */
import { hash } from 'node:crypto';
import type { Cache } from '../cache/cache.ts';
import type { Client } from '../client/client.ts';
import type { ApplyIntent, CallOptions } from '../client/options.ts';
import { NotOwnedError } from '../errors.ts';
import { controllerOf, controllerReference, type KubeObject, keyOf, type Live } from '../objects/object.ts';
import { type Resource, resourceName } from '../objects/resource.ts';
import { applyDeclared } from './apply-declared.ts';
import { covers, withoutUnset } from './covers.ts';
import { inheritFields } from './inherit-fields.ts';
import { withoutFields } from './undeclared-fields.ts';

export interface Applied<T extends KubeObject> {
  /**
   * - `applied`: an apply was sent (the server may have found nothing to change)
   * - `unchanged`: no request was needed
   * - `terminating`: the live object is being deleted; apply again when it is gone
   */
  readonly outcome: 'applied' | 'unchanged' | 'terminating';
  readonly object: Live<T>;
  /** Paths of the intent that the server's schema does not have; they were not sent. */
  readonly ignored: readonly string[];
}

export interface OwnedApplyOptions extends CallOptions {
  /** Adopt an existing object of that name that no controller owns. @default true */
  readonly adopt?: boolean;
}

interface Memory {
  readonly digest: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly ignored: readonly string[];
}

export class OwnedApplier {
  readonly #client: Client;
  readonly #cache: Cache;
  readonly #memory = new Map<string, Memory>();
  readonly #followed = new Set<string>();
  #predecessors: ReadonlySet<string> = new Set();

  constructor(client: Client, cache: Cache) {
    this.#client = client;
    this.#cache = cache;
  }

  /**
   * Field managers (of a previous operator) whose fields in children are taken over: fields that they wrote and that the intent does
   * not contain are removed by the first apply that changes the child.
   */
  inheritFrom(managers: Iterable<string>): void {
    this.#predecessors = new Set(managers);
  }

  async apply<T extends KubeObject>(
    resource: Resource<T>,
    owner: Live,
    intent: ApplyIntent<T>,
    options: OwnedApplyOptions = {},
  ): Promise<Applied<T>> {
    const whole = withoutUnset({
      ...(intent as object),
      metadata: { ...(intent.metadata as object), ownerReferences: [controllerReference(owner)] },
    }) as unknown as ApplyIntent<T>; // with an owner and without unset fields it is still an intent of its kind
    const key = `${resourceName(resource)} ${keyOf(intent.metadata)}`;
    this.#follow(resource);
    const live = this.#cache.get(resource, intent.metadata);
    const digest = hash('sha256', JSON.stringify(whole));
    const before = this.#memory.get(key);
    const ignored = before?.digest === digest ? before.ignored : [];
    const known = withoutFields(whole, ignored);
    if (live !== undefined) {
      this.#checkOwner(resource, owner, live, options.adopt ?? true);
      if (live.metadata.deletionTimestamp !== undefined)
        return { outcome: 'terminating', object: live, ignored };
      if (before?.digest === digest && before.uid === live.metadata.uid) {
        const same = before.resourceVersion === live.metadata.resourceVersion;
        if (same || covers(live, known)) {
          this.#remember(key, digest, live, ignored);
          return { outcome: 'unchanged', object: live, ignored };
        }
      }
      if (before === undefined && !covers(live, known)) await this.#inherit(resource, live, options);
    }
    const { signal, timeout } = options;
    const applied = await applyDeclared(this.#client, resource, whole, { signal, timeout }, ignored);
    this.#remember(key, digest, applied.object, applied.ignored);
    return { outcome: 'applied', ...applied };
  }

  /** Reads the object from the server, once per child: caches drop `managedFields`. */
  async #inherit<T extends KubeObject>(
    resource: Resource<T>,
    { metadata }: Live<T>,
    { signal }: OwnedApplyOptions,
  ): Promise<void> {
    if (this.#predecessors.size === 0) return;
    // A list of one object, so that `list` and `watch` permissions are sufficient.
    const { namespace, name } = metadata;
    const { items } = await this.#client.list(resource, {
      namespace,
      fieldSelector: `metadata.name=${name}`,
      signal,
    });
    const [found] = items;
    if (found === undefined) return;
    const { managedFields = [], resourceVersion, uid } = found.metadata;
    const inherited = inheritFields(managedFields, this.#predecessors, this.#client.fieldManager);
    if (inherited === undefined) return;
    const body = { metadata: { managedFields: inherited, resourceVersion, uid } };
    await this.#client.mergePatch(resource, metadata, body, { signal });
  }

  #remember(key: string, digest: string, { metadata }: Live, ignored: readonly string[]): void {
    this.#memory.set(key, { digest, uid: metadata.uid, resourceVersion: metadata.resourceVersion, ignored });
  }

  #checkOwner(resource: Resource, owner: Live, live: Live, adopt: boolean): void {
    const other = controllerOf(live);
    if (other?.uid === owner.metadata.uid || (other === undefined && adopt)) return;
    const whose = other === undefined ? 'no controller' : `${other.kind} ${other.name}`;
    throw new NotOwnedError(
      `${resource.kind} ${keyOf(live)} exists and belongs to ${whose}, not to ${owner.kind} ${owner.metadata.name}; rename one of them or delete it`,
    );
  }

  /** Drops the entries of deleted objects, so that the map is never larger than the cache. */
  #follow(resource: Resource): void {
    const name = resourceName(resource);
    if (this.#followed.has(name)) return;
    this.#followed.add(name);
    this.#cache.informer(resource).subscribe((change) => {
      if (change.type === 'deleted') this.#memory.delete(`${name} ${change.key}`);
    });
  }
}
