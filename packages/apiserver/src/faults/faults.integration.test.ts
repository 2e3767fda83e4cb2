/** Each fault as a client meets it, and its healing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '@slurm-operator/kube/testing';
import type { Caller } from '../../testing/contract/backend.ts';
import { OpenWatch } from '../../testing/contract/open-watch.ts';
import { callerOf, serveCaller } from '../../testing/serve-caller.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

const create = (caller: Caller, name: string) =>
  caller.call({ method: 'POST', path: configMaps, body: { metadata: { name } } });
const names = async (caller: Caller) =>
  (
    JSON.parse((await caller.call({ method: 'GET', path: configMaps })).text) as {
      items: { metadata: { name: string } }[];
    }
  ).items.map((item) => item.metadata.name);

interface Event {
  readonly type: string;
  readonly object: { readonly metadata: { readonly name: string; readonly resourceVersion: string } };
}
const seen = (watch: OpenWatch) =>
  (watch.events as Event[]).map(({ type, object }) => `${type} ${object.metadata.name}`);

async function openWatch(caller: Caller, query = ''): Promise<OpenWatch> {
  const watch = new OpenWatch(caller, {
    method: 'GET',
    path: `${configMaps}?watch=true&labelSelector=!kept${query}&fieldSelector=metadata.name!=kube-root-ca.crt`,
  });
  await watch.opened();
  return watch;
}

test('injected errors have Retry-After, apply to their scope and end after their count', async (t) => {
  const { server, caller } = await serveCaller(t);
  server.faults.refuse(
    { status: 429, retryAfterSeconds: 7 },
    { verb: 'create', resource: 'configmaps', times: 1 },
  );
  const refused = await create(caller, 'a');
  assert.equal(refused.status, 429);
  assert.deepEqual(refused.headers['retry-after'], ['7']);
  assert.equal((await caller.call({ method: 'GET', path: configMaps })).status, 200);
  assert.equal((await create(caller, 'a')).status, 201);
});

test('a pause holds requests until it is healed', async (t) => {
  const { server, caller } = await serveCaller(t);
  const heal = server.faults.pause({ verb: 'create' });
  let answered = false;
  const created = create(caller, 'a').finally(() => {
    answered = true;
  });
  assert.equal((await caller.call({ method: 'GET', path: configMaps })).status, 200);
  assert.equal(answered, false);
  heal();
  assert.equal((await created).status, 201);
});

test('a reset leaves the request undone, a lost answer leaves it done', async (t) => {
  const { server, caller } = await serveCaller(t);
  server.faults.reset({ verb: 'create', times: 1 });
  await assert.rejects(create(caller, 'undone'));
  server.faults.loseAnswers({ verb: 'create', times: 1 });
  await assert.rejects(create(caller, 'done'));
  assert.deepEqual(await names(caller), ['done', 'kube-root-ca.crt']);
});

test('dropped events never come, held ones come late, coalesced ones come as one', async (t) => {
  const { server, caller } = await serveCaller(t);
  const watch = await openWatch(caller);
  const healDrop = server.faults.dropEvents();
  await create(caller, 'dropped');
  healDrop();
  const healHold = server.faults.holdEvents({ resource: 'configmaps' });
  await create(caller, 'held');
  await caller.call({ method: 'GET', path: '/readyz' });
  assert.deepEqual(seen(watch), []);
  healHold();
  await until('the held event', () => watch.events.length === 1);
  const healCoalesce = server.faults.coalesceEvents();
  await create(caller, 'merged');
  for (const value of ['1', '2'])
    await caller.call({
      method: 'PATCH',
      path: `${configMaps}/merged`,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { data: { value } },
    });
  await create(caller, 'brief');
  await caller.call({ method: 'DELETE', path: `${configMaps}/brief` });
  healCoalesce();
  await create(caller, 'last');
  await until('the last event', () => seen(watch).includes('ADDED last'));
  assert.deepEqual(seen(watch), ['ADDED held', 'ADDED merged', 'ADDED last']);
  watch.close();
});

test('a truncated line and a cut end the watch', async (t) => {
  const { server, caller } = await serveCaller(t);
  const torn = await openWatch(caller);
  server.faults.truncateEvents({ times: 1 });
  await create(caller, 'a');
  assert.equal(await torn.endsWithin(60_000), true);
  assert.deepEqual(torn.events, [], 'half a line is no event');
  const cut = await openWatch(caller);
  await until('one open watch', () => server.faults.watches === 1);
  assert.equal(server.faults.cutWatches({ resource: 'configmaps' }, 'end'), 1);
  assert.equal(await cut.endsWithin(60_000), true);
  assert.deepEqual(seen(cut), ['ADDED a'], 'what was sent before the end arrives');
});

test('stale reads show an old state, writes go to the new one', async (t) => {
  const { server, caller } = await serveCaller(t);
  await create(caller, 'old');
  const before = server.store.revision;
  await create(caller, 'new');
  const heal = server.faults.stale(before, { verb: ['get', 'list'] });
  assert.deepEqual(await names(caller), ['kube-root-ca.crt', 'old']);
  assert.equal((await caller.call({ method: 'GET', path: `${configMaps}/new` })).status, 404);
  assert.equal((await create(caller, 'new')).status, 409);
  heal();
  assert.deepEqual(await names(caller), ['kube-root-ca.crt', 'new', 'old']);
});

test('compaction makes a resumed watch 410, a restored snapshot takes writes back', async (t) => {
  const { server, caller } = await serveCaller(t);
  const start = server.store.revision;
  await create(caller, 'a');
  const snapshot = server.store.snapshot();
  await create(caller, 'b');
  server.faults.compact();
  const late = await openWatch(caller, `&resourceVersion=${start}`);
  assert.equal(await late.endsWithin(60_000), true);
  assert.equal((late.events[0] as { object: { code: number } }).object.code, 410);
  server.faults.restore(snapshot);
  const again = callerOf(server);
  t.after(() => again.close());
  assert.deepEqual(await names(again), ['a', 'kube-root-ca.crt'], 'connections do not outlive a restore');
});

test('a restart breaks watches and keeps the state; several servers do not know each other', async (t) => {
  const { server, caller } = await serveCaller(t);
  const other = await serveCaller(t);
  const watch = await openWatch(caller);
  await create(caller, 'a');
  await server.restart();
  assert.equal(await watch.endsWithin(60_000), true);
  const again = callerOf(server);
  t.after(() => again.close());
  assert.deepEqual(await names(again), ['a', 'kube-root-ca.crt']);
  assert.deepEqual(await names(other.caller), ['kube-root-ca.crt']);
});
