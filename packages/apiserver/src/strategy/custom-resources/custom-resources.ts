/**
 * Keeps what is served in step with the stored definitions: accepts names, establishes, serves, and cleans up.
 *
 * Every step is one write by `kube-apiserver` through the status subresource, made in a later turn of the event loop: who
 * created a definition sees it first without conditions, as on a real server.
 */

import { clone, equal, stringifyExact } from '../../api/json.ts';
import { typedList } from '../../api/typed.ts';
import { type KubeObject, timestamp } from '../../api/types.ts';
import { updateManagedFields } from '../../apply/field-manager.ts';
import type { ServerParts } from '../../resource/request-context.ts';
import { groupVersion, type ResourceDefinition } from '../../resource/resource-definition.ts';
import { acceptNames, setCondition } from './conditions.ts';
import { customDefinitions } from './custom-definitions.ts';
import {
  type CustomResourceDefinition,
  cleanupFinalizer,
  conditionOf,
  definitionsResource,
  definitionsStorage,
  isEstablished,
} from './definition.ts';
import { definitionHooks } from './definition-hooks.ts';

/** Serves what is stored already and follows later changes until stopped. */
export class CustomResources {
  readonly #parts: ServerParts;
  readonly #waiting = new Set<string>();
  /** Served definitions by the name of what brought them. */
  readonly #served = new Map<string, { key: string; definitions: readonly ResourceDefinition[] }>();
  #unsubscribe: (() => void)[] = [];
  #turn: NodeJS.Immediate | undefined;

  constructor(parts: ServerParts) {
    this.#parts = parts;
  }

  start(): void {
    const { registry, store } = this.#parts;
    const { group, version, plural } = definitionsResource;
    const known = registry.find(group, version, plural);
    if (known) registry.register({ ...known, hooks: definitionHooks, subresources: withStatus(known) });
    const all = (): void => {
      for (const name of this.#served.keys()) this.#unserve(name);
      for (const crd of store.list(definitionsStorage)) {
        this.#serve(crd as CustomResourceDefinition);
        this.#queue(crd.metadata.name ?? '');
      }
    };
    all();
    this.#unsubscribe = [
      store.onRestore(all),
      store.subscribe((event) => {
        if (event.resource === definitionsStorage) {
          if (event.type === 'DELETED') {
            this.#unserve(event.object.metadata.name ?? '');
            // Its names are free now: others may have waited for them.
            for (const crd of this.#all()) this.#queue(crd.metadata.name ?? '');
          } else this.#serve(event.object as CustomResourceDefinition);
          this.#queue(event.object.metadata.name ?? '');
        } else if (event.type === 'DELETED') {
          // An instance went: its definition may be waiting for that.
          for (const crd of this.#terminating()) this.#queue(crd.metadata.name ?? '');
        }
      }),
    ];
  }

  stop(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    clearImmediate(this.#turn);
    this.#turn = undefined;
  }

  #terminating(): CustomResourceDefinition[] {
    if (this.#served.size === 0) return [];
    return this.#all().filter((crd) => crd.metadata.deletionTimestamp !== undefined);
  }

  #all(): readonly CustomResourceDefinition[] {
    return typedList<CustomResourceDefinition>(this.#parts.store.list(definitionsStorage));
  }

  #queue(name: string): void {
    this.#waiting.add(name);
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined;
      const names = [...this.#waiting];
      this.#waiting.clear();
      for (const each of names) this.#step(each);
    });
  }

  /** One step towards established, or towards gone; each write brings the next event. */
  #step(name: string): void {
    const stored = this.#parts.store.get(definitionsStorage, undefined, name) as
      | CustomResourceDefinition
      | undefined;
    if (stored === undefined) return;
    if (stored.metadata.deletionTimestamp !== undefined) return this.#cleanUp(stored);
    const next = clone(stored);
    const at = timestamp(this.#parts.environment.now());
    const { accepted, conflict } = acceptNames(stored, this.#all());
    next.status.acceptedNames = accepted;
    setCondition(next, {
      type: 'NamesAccepted',
      status: conflict ? 'False' : 'True',
      lastTransitionTime: at,
      reason: conflict?.reason ?? 'NoConflicts',
      message: conflict?.message ?? 'no conflicts found',
    });
    if (conflict) {
      if (!isEstablished(stored))
        setCondition(next, {
          type: 'Established',
          status: 'False',
          lastTransitionTime: at,
          reason: 'NotAccepted',
          message: 'not all names are accepted',
        });
    } else if (!isEstablished(stored)) {
      const isInstalling = conditionOf(stored, 'Established')?.reason === 'Installing';
      setCondition(next, {
        type: 'Established',
        status: isInstalling ? 'True' : 'False',
        lastTransitionTime: at,
        reason: isInstalling ? 'InitialNamesAccepted' : 'Installing',
        message: 'the initial names have been accepted',
      });
    }
    this.#write(stored, next);
  }

  /** Deletes the instances, waits for those that are held, then lets the definition go. */
  #cleanUp(stored: CustomResourceDefinition): void {
    if (!stored.metadata.finalizers?.includes(cleanupFinalizer)) return;
    const at = timestamp(this.#parts.environment.now());
    const condition = conditionOf(stored, 'Terminating');
    const resource = `${stored.spec.group}/${stored.spec.names.plural}`;
    const served = isEstablished(stored) || condition !== undefined;
    if (served && condition?.reason === 'InstanceDeletionPending') {
      const next = clone(stored);
      setCondition(next, {
        type: 'Terminating',
        status: 'True',
        lastTransitionTime: at,
        reason: 'InstanceDeletionInProgress',
        message: 'CustomResource deletion is in progress',
      });
      this.#write(stored, next);
      for (const object of this.#parts.store.list(resource)) this.#deleteInstance(resource, object, at);
      return;
    }
    if (this.#parts.store.count(resource) > 0) return;
    const { store } = this.#parts;
    const finalizers = stored.metadata.finalizers.filter((each) => each !== cleanupFinalizer);
    if (finalizers.length === 0) {
      store.delete(
        definitionsStorage,
        undefined,
        stored.metadata.name ?? '',
        stored.metadata.resourceVersion,
      );
    } else {
      const next = { ...stored, metadata: { ...stored.metadata, finalizers } };
      store.replace(definitionsStorage, next, stored.metadata.resourceVersion ?? '');
    }
  }

  #deleteInstance(resource: string, object: KubeObject, at: string): void {
    const { store } = this.#parts;
    const {
      namespace,
      name = '',
      resourceVersion = '',
      finalizers = [],
      deletionTimestamp,
    } = object.metadata;
    if (deletionTimestamp !== undefined) return;
    if (finalizers.length === 0) {
      store.delete(resource, namespace, name, resourceVersion);
      return;
    }
    const next = clone(object);
    next.metadata.deletionTimestamp = at;
    next.metadata.deletionGracePeriodSeconds = 0;
    next.metadata.generation = (next.metadata.generation ?? 0) + 1;
    store.replace(resource, next, resourceVersion);
  }

  #write(stored: CustomResourceDefinition, next: CustomResourceDefinition): void {
    if (equal(stored.status, next.status)) return;
    const { registry, store, environment } = this.#parts;
    const { group, version, plural } = definitionsResource;
    const definition = registry.find(group, version, plural);
    if (definition === undefined) return;
    const managed = updateManagedFields(registry, stored, next, {
      definition,
      subresource: 'status',
      manager: 'kube-apiserver',
      apiVersion: groupVersion(definition),
      time: timestamp(environment.now()),
    });
    store.replace(definitionsStorage, managed, stored.metadata.resourceVersion ?? '');
  }

  #serve(crd: CustomResourceDefinition): void {
    const name = crd.metadata.name ?? '';
    if (!isEstablished(crd)) return this.#unserve(name);
    // Status writes come often; the resources change with the specification only.
    const key = stringifyExact([crd.metadata.uid, crd.spec, crd.status.acceptedNames]);
    if (this.#served.get(name)?.key === key) return;
    const isTerminating = (): boolean =>
      this.#parts.store.get(definitionsStorage, undefined, name)?.metadata.deletionTimestamp !== undefined;
    const definitions = customDefinitions(crd, isTerminating);
    const stale = this.#served.get(name)?.definitions ?? [];
    this.#served.set(name, { key, definitions });
    for (const old of stale)
      if (!definitions.some((each) => each.version === old.version))
        this.#parts.registry.unregister(old.group, old.version, old.plural);
    for (const definition of definitions) this.#parts.registry.register(definition);
  }

  #unserve(name: string): void {
    for (const { group, version, plural } of this.#served.get(name)?.definitions ?? [])
      this.#parts.registry.unregister(group, version, plural);
    this.#served.delete(name);
  }
}

/** Status writes by clients keep the rest of the definition. */
function withStatus({ subresources }: ResourceDefinition): ResourceDefinition['subresources'] {
  const status = subresources['status'];
  if (status?.type !== 'part') return subresources;
  const prepareForUpdate = (object: KubeObject, old: KubeObject): void => {
    const { managedFields } = object.metadata;
    object['spec'] = clone(old['spec']);
    object.metadata = { ...clone(old.metadata), ...(managedFields === undefined ? {} : { managedFields }) };
  };
  const hooks = { ...status.hooks, prepareForUpdate };
  return { ...subresources, status: { ...status, hooks } };
}
