/** Over real connections: whatever writers do at once, every watcher tells the same story, and no write is lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { OpenWatch } from '../../testing/contract/open-watch.ts';
import { callerOf, serveCaller } from '../../testing/serve-caller.ts';
import { startApiServer } from '../server.ts';

interface Thing {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly data?: { readonly count: string };
}
interface Event {
  readonly type: string;
  readonly object: Thing;
}

const writer = fc.array(
  fc.record({ name: fc.constantFrom('a', 'b', 'c'), act: fc.constantFrom('count', 'create', 'delete') }),
  { maxLength: 25 },
);
const merge = { 'content-type': 'application/merge-patch+json' };

test('any interleaving of writers gives each watcher the same history, and list + watch is the state', async () => {
  const server = await startApiServer();
  const caller = callerOf(server);
  let round = 0;
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(writer, { minLength: 2, maxLength: 4 }), async (writers) => {
        round += 1;
        const namespace = `round-${round}`;
        const path = `/api/v1/namespaces/${namespace}/configmaps`;
        await caller.call({
          method: 'POST',
          path: '/api/v1/namespaces',
          body: { metadata: { name: namespace } },
        });
        const query = 'fieldSelector=metadata.name!=kube-root-ca.crt';
        const list = async () =>
          JSON.parse((await caller.call({ method: 'GET', path: `${path}?${query}` })).text) as {
            metadata: { resourceVersion: string };
            items: Thing[];
          };
        const start = (await list()).metadata.resourceVersion;
        const open = async () => {
          const watch = new OpenWatch(caller, {
            method: 'GET',
            path: `${path}?${query}&watch=true&resourceVersion=${start}`,
          });
          await watch.opened();
          return watch;
        };
        const early = await open();
        const counted = new Map<string, number>();
        /** Reads, adds one and writes back at the version read; counts only what the server took. */
        const count = async (name: string): Promise<void> => {
          const read = await caller.call({ method: 'GET', path: `${path}/${name}` });
          if (read.status !== 200) return;
          const { metadata, data } = JSON.parse(read.text) as Thing;
          const { uid, resourceVersion } = metadata;
          const body = {
            metadata: { uid, resourceVersion },
            data: { count: String(Number(data?.count ?? '0') + 1) },
          };
          const answer = await caller.call({
            method: 'PATCH',
            path: `${path}/${name}`,
            headers: merge,
            body,
          });
          if (answer.status === 200) counted.set(uid, (counted.get(uid) ?? 0) + 1);
        };
        await Promise.all(
          writers.map(async (steps) => {
            for (const { name, act } of steps)
              if (act === 'create') await caller.call({ method: 'POST', path, body: { metadata: { name } } });
              else if (act === 'delete') await caller.call({ method: 'DELETE', path: `${path}/${name}` });
              else await count(name);
          }),
        );
        const late = await open();
        const end = await list();
        const last = Number(end.metadata.resourceVersion);
        const deadline = Date.now() + 60_000;
        const expected = (server.store.eventsAfter(Number(start)) ?? []).filter(
          ({ resource, object, revision }) =>
            resource === '/configmaps' && object.metadata.namespace === namespace && revision <= last,
        ).length;
        while (early.events.length < expected || late.events.length < expected) {
          assert.ok(
            Date.now() < deadline,
            `${early.events.length} and ${late.events.length} of ${expected} events`,
          );
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
        assert.deepEqual(late.events, early.events, 'a watcher that joined late replays the same');
        const state = new Map<string, Thing>();
        for (const { type, object } of early.events as Event[])
          if (type === 'DELETED') state.delete(object.metadata.name);
          else state.set(object.metadata.name, object);
        const versions = (objects: Iterable<Thing>) =>
          [...objects].map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).toSorted();
        assert.deepEqual(versions(state.values()), versions(end.items));
        for (const { metadata, data } of end.items)
          assert.equal(Number(data?.count ?? '0'), counted.get(metadata.uid) ?? 0, 'no write is lost');
        early.close();
        late.close();
      }),
      { numRuns: 15 },
    );
  } finally {
    caller.close();
    await server.stop();
  }
});

test('more present objects than fit into memory of the connection come all, with what happens meanwhile', async (t) => {
  const { server, caller } = await serveCaller(t);
  const big = 'x'.repeat(1_000_000);
  const names = Array.from({ length: 75 }, (_, i) => `big-${String(i).padStart(2, '0')}`);
  const thing = (name: string) => ({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name, namespace: 'default', uid: name },
  });
  for (const name of names) server.store.create('/configmaps', { ...thing(name), data: { big } });
  const watch = new OpenWatch(caller, {
    method: 'GET',
    path: '/api/v1/namespaces/default/configmaps?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
  });
  await watch.opened();
  server.store.create('/configmaps', thing('meanwhile'));
  const ended = () => (watch.events as Event[]).find(({ type }) => type === 'BOOKMARK');
  const deadline = performance.now() + 60_000;
  while (ended() === undefined) {
    assert.ok(performance.now() < deadline, `the end of ${watch.events.length} initial events never came`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const told = (watch.events as Event[])
    .filter(({ type }) => type === 'ADDED')
    .map(({ object }) => object.metadata.name);
  assert.deepEqual(
    told.filter((name) => name.startsWith('big-')),
    names,
  );
  assert.equal(told.filter((name) => name === 'meanwhile').length, 1);
  watch.close();
});
