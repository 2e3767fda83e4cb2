/** What must have followed the definitions of a case before a step can be compared: discovery, OpenAPI, watch caches. */
import type { Caller } from './backend.ts';
import { needs, type RecordedCase, recordedCases } from './case.ts';
import { eventually } from './eventually.ts';
import { OpenWatch } from './open-watch.ts';
import { at } from './reductions.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const aggregated =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;q=0.1';
const deadline = 60_000;

/** The groups of all definitions that a case, or one that it builds on, writes. */
export function customGroups(recorded: RecordedCase): ReadonlySet<string> {
  const earlier = (needs[recorded.name] ?? []).flatMap((name) => recordedCases(name));
  const sent = [...earlier, recorded].flatMap(({ setup = [], steps }) => [
    ...setup,
    ...steps.map(({ request }) => request),
  ]);
  const groups = sent
    .filter((one) => one?.path.startsWith(definitions))
    .map((one) => at(one?.body, 'spec', 'group'));
  return new Set(groups.filter((group) => typeof group === 'string'));
}

/** Paths that show what kinds there are. */
export function showsKinds(path: string): boolean {
  return /^\/(?:apis?(?:\/[^/]+){0,2}|openapi\/.*)$/.test(path.split('?')[0] ?? '');
}

/** Until discovery and OpenAPI list exactly the established versions of these groups. */
export async function discoveryFollowed(caller: Caller, groups: ReadonlySet<string>): Promise<void> {
  if (groups.size === 0) return;
  await eventually(
    `discovery and OpenAPI list the kinds of ${[...groups].join(', ')}`,
    async () => {
      const stored = await get(caller, definitions);
      const wanted = asArray(at(stored, 'items')).flatMap((crd) => servedVersions(crd, groups));
      const listed = asArray(at(await get(caller, '/apis', { accept: aggregated }), 'items')).flatMap(
        (item) => listedVersions(item, groups),
      );
      const documents = Object.keys(Object(at(await get(caller, '/openapi/v3'), 'paths')) as object);
      const published = documents.filter(
        (name) => groups.has(name.split('/')[1] ?? '') && name.split('/')[2],
      );
      const versions = new Set(wanted.map((name) => `apis/${name.split('/').slice(0, 2).join('/')}`));
      return same(wanted, listed) && same([...versions], published);
    },
    { deadline },
  );
}

/** `group/version/plural` of what an established definition serves. */
function servedVersions(crd: unknown, groups: ReadonlySet<string>): string[] {
  const group = String(at(crd, 'spec', 'group'));
  const established = asArray(at(crd, 'status', 'conditions')).some(
    (one) => at(one, 'type') === 'Established' && at(one, 'status') === 'True',
  );
  if (!groups.has(group) || !established) return [];
  return asArray(at(crd, 'spec', 'versions'))
    .filter((version) => at(version, 'served') === true)
    .map(
      (version) => `${group}/${String(at(version, 'name'))}/${String(at(crd, 'spec', 'names', 'plural'))}`,
    );
}

function listedVersions(item: unknown, groups: ReadonlySet<string>): string[] {
  const group = String(at(item, 'metadata', 'name'));
  if (!groups.has(group)) return [];
  return asArray(at(item, 'versions')).flatMap((version) =>
    asArray(at(version, 'resources')).map(
      (one) => `${group}/${String(at(version, 'version'))}/${String(at(one, 'resource'))}`,
    ),
  );
}

/**
 * Until the watch cache behind a watch is filled: a watch from 0 with bookmarks then begins with an object or a bookmark,
 * and before that with an ERROR of code 429. Events of the server have no such cache.
 */
export async function watchCacheFilled(caller: Caller, path: string): Promise<void> {
  const collection = path.split('?')[0] ?? '';
  if (collection.includes('/watch/') || collection.endsWith('/events')) return;
  await eventually(
    `the watch cache of ${collection} is filled`,
    async () => {
      const query = 'watch=true&resourceVersion=0&allowWatchBookmarks=true&timeoutSeconds=5';
      const watch = new OpenWatch(caller, { method: 'GET', path: `${collection}?${query}` });
      try {
        const { status } = await watch.opened();
        // 404: the kind is not served yet.
        if (status === 429 || status === 404) return false;
        if (status !== 200) return true;
        await eventually(`first event of ${collection}`, () => Promise.resolve(watch.events.length > 0), {
          deadline: 10_000,
        });
        return !isNotReady(watch.events[0]);
      } finally {
        watch.close();
      }
    },
    { deadline },
  );
}

/** Whether a watch with initial events ends with an error, as with an etcd before 3.4.25. */
export async function hasOldEtcd(caller: Caller): Promise<boolean> {
  const query =
    'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=10';
  const collection = '/api/v1/namespaces';
  await watchCacheFilled(caller, collection);
  const watch = new OpenWatch(caller, { method: 'GET', path: `${collection}?${query}` });
  try {
    if ((await watch.opened()).status !== 200) return false;
    await eventually(`first event of ${collection}`, () => Promise.resolve(watch.events.length > 0), {
      deadline: 20_000,
    });
    return watch.events.some((event) => at(event, 'type') === 'ERROR' && at(event, 'object', 'code') === 500);
  } finally {
    watch.close();
  }
}

/** The ERROR event of a server whose watch cache is not filled. */
function isNotReady(event: unknown): boolean {
  return at(event, 'type') === 'ERROR' && at(event, 'object', 'code') === 429;
}

async function get(caller: Caller, path: string, headers: Readonly<Record<string, string>> = {}) {
  const { text } = await caller.call({ method: 'GET', path, headers });
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.toSorted().join() === b.toSorted().join();
}
