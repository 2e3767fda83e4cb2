/** Removes what a case made, as far as nobody else does: finalizers of its own making, and what a namespace holds. */
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
  if (caller.backend.controllers) return;
  // Only now: as long as it is not being deleted, a server may put its service account back.
  const given = ['serviceaccounts', 'configmaps'].map((one) => `${path}/${one}`);
  for (const collection of new Set([...collectionsIn(name, cases), ...given]))
    await emptyCollection(caller, collection);
  await finalize(caller, path);
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
