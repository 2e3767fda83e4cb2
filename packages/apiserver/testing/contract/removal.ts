/** Removes what a case created and nothing else removes: its own finalizers, and the content of a namespace. */
import type { Caller } from './backend.ts';
import type { RecordedCase } from './case.ts';
import { eventually } from './eventually.ts';
import { at } from './reductions.ts';

const merge = { 'content-type': 'application/merge-patch+json' };

/** Returns when the object is gone. */
export async function removeObject(caller: Caller, path: string, deadline: number): Promise<void> {
  if ((await caller.call({ method: 'DELETE', path })).status === 404) return;
  let attempts = 0;
  await eventually(
    `${path}, which this run made, is gone; remove it by hand`,
    async () => {
      const { status, text } = await caller.call({ method: 'GET', path });
      if (status !== 200) return true;
      // The case may have ended before it took its finalizers off.
      if (++attempts === 8) await takeFinalizersOff(caller, path, JSON.parse(text));
      return false;
    },
    { deadline },
  );
}

async function takeFinalizersOff(caller: Caller, path: string, object: unknown): Promise<void> {
  const [group, plural] = [at(object, 'spec', 'group'), at(object, 'spec', 'names', 'plural')];
  const version = at(object, 'status', 'storedVersions', '0');
  if (path.includes('/customresourcedefinitions/')) {
    const { text } = await caller.call({
      method: 'GET',
      path: `/apis/${String(group)}/${String(version)}/${String(plural)}`,
    });
    for (const item of itemsOf(text)) {
      const { namespace, name } = Object(at(item, 'metadata')) as { namespace?: string; name?: string };
      const place = namespace === undefined ? '' : `namespaces/${namespace}/`;
      const instance = `/apis/${String(group)}/${String(version)}/${place}${String(plural)}/${String(name)}`;
      await caller.call(withoutFinalizers(instance));
    }
    return;
  }
  if (!caller.backend.controllers && path.startsWith('/api/v1/namespaces/')) await finalize(caller, path);
  await caller.call(withoutFinalizers(path));
}

function withoutFinalizers(path: string) {
  return { method: 'PATCH', path, headers: merge, body: { metadata: { finalizers: null } } };
}

/** Where no controller does it, its content goes by what the cases wrote to, and the namespace is let go. */
export async function removeNamespace(
  caller: Caller,
  name: string,
  cases: readonly RecordedCase[],
): Promise<void> {
  const path = `/api/v1/namespaces/${name}`;
  await caller.call({ method: 'DELETE', path });
  if (caller.backend.controllers) {
    for (const collection of collectionsIn(name, cases)) await releaseObjects(caller, collection);
    return;
  }
  // Only now: as long as it is not being deleted, a server may put its service account back.
  const given = ['serviceaccounts', 'configmaps'].map((one) => `${path}/${one}`);
  for (const collection of new Set([...collectionsIn(name, cases), ...given]))
    await emptyCollection(caller, collection);
  await finalize(caller, path);
}

/** Finalizers that controllers take off themselves. */
const ofControllers = /^(foregroundDeletion|orphan)$|(^|\.)kubernetes\.io\//;

/** A finalizer that a case invented would keep the namespace for good. */
async function releaseObjects(caller: Caller, collection: string): Promise<void> {
  const { text } = await caller.call({ method: 'GET', path: collection });
  for (const item of itemsOf(text)) {
    const path = `${collection}/${String(at(item, 'metadata', 'name'))}`;
    await eventually(`${path} has no finalizer of this run`, () => isReleased(caller, path), {
      deadline: 10_000,
    });
  }
}

/** A controller may take its own finalizer off at the same time: then the patch is refused, and the object is read again. */
async function isReleased(caller: Caller, path: string): Promise<boolean> {
  const { status, text } = await caller.call({ method: 'GET', path });
  if (status !== 200) return true;
  const metadata = at(JSON.parse(text), 'metadata');
  const finalizers = at(metadata, 'finalizers');
  if (!Array.isArray(finalizers)) return true;
  const kept = finalizers.filter((one) => ofControllers.test(String(one)));
  if (kept.length === finalizers.length) return true;
  const resourceVersion = at(metadata, 'resourceVersion');
  const body = { metadata: { resourceVersion, finalizers: kept } };
  return (await caller.call({ method: 'PATCH', path, headers: merge, body })).status === 200;
}

async function emptyCollection(caller: Caller, collection: string): Promise<void> {
  const now = '?gracePeriodSeconds=0';
  await caller.call({ method: 'DELETE', path: `${collection}${now}` });
  const { text } = await caller.call({ method: 'GET', path: collection });
  for (const item of itemsOf(text)) {
    const path = `${collection}/${String(at(item, 'metadata', 'name'))}`;
    await caller.call(withoutFinalizers(path));
    await caller.call({ method: 'DELETE', path: `${path}${now}` });
  }
}

async function finalize(caller: Caller, path: string): Promise<void> {
  const { status, text } = await caller.call({ method: 'GET', path });
  if (status !== 200) return;
  const body = { ...(JSON.parse(text) as object), spec: { finalizers: [] } };
  await caller.call({ method: 'PUT', path: `${path}/finalize`, body: renamed(body, caller, path) });
}

/** The object was read with its recorded name, and must be sent with the real one. */
function renamed(body: object, { names }: Caller, path: string): object {
  const name = names.real(path.slice(path.lastIndexOf('/') + 1));
  return { ...body, metadata: { ...(Object(at(body, 'metadata')) as object), name } };
}

function collectionsIn(name: string, cases: readonly RecordedCase[]): Set<string> {
  const paths = cases.flatMap(({ setup = [], steps }) => [
    ...setup.map(({ path }) => path),
    ...steps.map(({ request }) => request?.path ?? ''),
  ]);
  // A path of the old watch endpoints would be answered with a stream that does not end.
  const collections = paths.filter((path) => !path.includes('/watch/'));
  const found = collections.map(
    (path) => new RegExp(`^(/apis?/.*)?/namespaces/${name}/[^/?]+`).exec(path)?.[0],
  );
  return new Set(found.filter((collection) => collection !== undefined));
}

function itemsOf(text: string): readonly unknown[] {
  try {
    const items = at(JSON.parse(text), 'items');
    return Array.isArray(items) ? items : [];
  } catch {
    return [];
  }
}
