/**
 * An embedded server that does late what a real one does late: it serves a new kind, lists it in discovery and OpenAPI, fills
 * its watch cache, and follows roles, webhooks, policies and other configuration only some time after they were written.
 */
import { Registry } from '../../src/resource/registry.ts';
import type { Caches } from '../../src/resource/request-context.ts';
import { type ApiServer, type ApiServerOptions, startApiServer } from '../../src/server.ts';
import type { Store } from '../../src/store/store.ts';
import { laggingStore } from './lagging-store.ts';

export interface SlowServerOptions extends Omit<ApiServerOptions, 'caches'> {
  /** How long every informer of the server takes. @default 60 */
  readonly milliseconds?: number;
}

const rbac = 'rbac.authorization.k8s.io';
const admission = 'admissionregistration.k8s.io';

/** What plugins, the authorizer and the handler of custom resources read through informers. */
const configuration: ReadonlySet<string> = new Set([
  ...['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'].map((name) => `${rbac}/${name}`),
  ...['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'].map(
    (name) => `${admission}/${name}`,
  ),
  ...['validatingadmissionpolicies', 'validatingadmissionpolicybindings'].map(
    (name) => `${admission}/${name}`,
  ),
  'scheduling.k8s.io/priorityclasses',
  'storage.k8s.io/storageclasses',
  '/namespaces',
  '/serviceaccounts',
  '/services',
]);

/** A namespace or service account that the informer does not know is looked up. */
const liveOnMiss: ReadonlySet<string> = new Set(['/namespaces', '/serviceaccounts']);

export async function startSlowServer({
  milliseconds = 60,
  ...options
}: SlowServerOptions = {}): Promise<ApiServer> {
  const stops: (() => void)[] = [];
  const caches = (store: Store, registry: Registry): Caches => {
    const late = laggingStore(store, { milliseconds, late: configuration, liveOnMiss });
    const definitions = laggingStore(store, {
      milliseconds,
      late: new Set(['apiextensions.k8s.io/customresourcedefinitions']),
    });
    stops.push(
      () => late.stop(),
      () => definitions.stop(),
    );
    return {
      configuration: late.store,
      // Reads the definitions themselves, hears of changes late.
      definitions: withOwnReads(definitions.store, store),
      registry: lateRegistry(registry, milliseconds, stops),
    };
  };
  const server = await startApiServer({ ...options, caches });
  fillWatchCachesLate(server, milliseconds, stops);
  await new Promise((resolve) => setTimeout(resolve, 2 * milliseconds));
  return {
    ...server,
    async stop() {
      for (const stop of stops) stop();
      await server.stop();
    },
  };
}

function withOwnReads(late: Store, store: Store): Store {
  return new Proxy(late, {
    get(target, property) {
      const of = property === 'subscribe' ? target : store;
      const value: unknown = Reflect.get(of, property, of);
      return typeof value === 'function' ? value.bind(of) : value;
    },
  });
}

function lateRegistry(registry: Registry, milliseconds: number, stops: (() => void)[]): Registry {
  const copy = new Registry();
  const follow = () => {
    const current = registry.all();
    for (const old of copy.all())
      if (
        !current.some(
          (one) => one.group === old.group && one.version === old.version && one.plural === old.plural,
        )
      )
        copy.unregister(old.group, old.version, old.plural);
    for (const definition of current)
      if (copy.find(definition.group, definition.version, definition.plural) !== definition)
        copy.register(definition);
  };
  follow();
  let timer: NodeJS.Timeout | undefined;
  const stop = registry.onChange(() => {
    timer ??= setTimeout(() => {
      timer = undefined;
      follow();
    }, milliseconds).unref();
  });
  stops.push(() => {
    clearTimeout(timer);
    stop();
  });
  return copy;
}

/** A new custom kind is 429 to those who list or watch it at first. */
function fillWatchCachesLate(
  { parts, faults }: ApiServer,
  milliseconds: number,
  stops: (() => void)[],
): void {
  const known = new Set<string>();
  const stop = parts.registry.onChange(() => {
    const custom = parts.registry.all().filter((definition) => definition.custom);
    const names = new Set(custom.map(({ group, plural }) => `${group}/${plural}`));
    for (const name of known) if (!names.has(name)) known.delete(name);
    for (const { group, plural } of custom) {
      if (known.has(`${group}/${plural}`)) continue;
      known.add(`${group}/${plural}`);
      const heal = faults.emptyWatchCache({ group, resource: plural });
      setTimeout(heal, 2 * milliseconds).unref();
    }
  });
  stops.push(stop);
}
