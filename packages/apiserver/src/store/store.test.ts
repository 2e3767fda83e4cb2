/** The laws of the store: one history for all, lists of any kept moment, and no lost write. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { KubeObject } from '../api/types.ts';
import type { StoreEvent } from './history.ts';
import { Store } from './store.ts';

const resource = '/things';

/** A write by one of several writers: at the version it last saw, which may be stale. */
const command = fc.record({
  writer: fc.nat(3),
  name: fc.constantFrom('a', 'b', 'c', 'd'),
  act: fc.constantFrom('create', 'replace', 'delete', 'look', 'join', 'leave', 'compact' as const),
});

const thing = (name: string, value: number): KubeObject => ({
  kind: 'Thing',
  apiVersion: 'v1',
  metadata: { name, namespace: 'n' },
  value,
});

const shown = (objects: readonly KubeObject[]) =>
  objects.map(({ metadata, ...rest }) => [metadata.name, metadata.resourceVersion, rest['value']]);

class Watcher {
  readonly state = new Map<string, KubeObject>();
  readonly seen: StoreEvent[] = [];
  readonly leave: () => void;

  /** As a client does: a list, then every event after it. */
  constructor(store: Store) {
    for (const object of store.list(resource)) this.state.set(object.metadata.name ?? '', object);
    this.leave = store.subscribe((event) => this.follow(event));
  }

  follow(event: StoreEvent): void {
    this.seen.push(event);
    const name = event.object.metadata.name ?? '';
    if (event.type === 'DELETED') this.state.delete(name);
    else this.state.set(name, event.object);
  }

  objects(): KubeObject[] {
    return [...this.state.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }
}

test('any interleaving of writers and watchers gives every watcher the same history', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 120 }), (commands) => {
      const store = new Store();
      const history: StoreEvent[] = [];
      store.subscribe((event) => history.push(event));
      const watchers: { watcher: Watcher; from: number }[] = [];
      const known = new Map<string, string>();
      let value = 0;
      for (const { writer, name, act } of commands) {
        const at = `${writer}/${name}`;
        value += 1;
        if (act === 'create') store.create(resource, thing(name, value));
        else if (act === 'replace') store.replace(resource, thing(name, value), known.get(at) ?? '');
        else if (act === 'delete') store.delete(resource, 'n', name, known.get(at));
        else if (act === 'look')
          known.set(at, store.get(resource, 'n', name)?.metadata.resourceVersion ?? '');
        else if (act === 'join') watchers.push({ watcher: new Watcher(store), from: history.length });
      }
      for (const { watcher, from } of watchers) {
        assert.deepEqual(watcher.seen, history.slice(from));
        assert.deepEqual(shown(watcher.objects()), shown(store.list(resource)), 'list + watch = state');
      }
      const versions = history.map((event) => event.revision);
      assert.deepEqual(
        versions,
        [...new Set(versions)].toSorted((a, b) => a - b),
        'versions only grow',
      );
      assert.deepEqual(store.eventsAfter(0), history, 'a late watcher replays the same');
    }),
  );
});

test('a list at a resourceVersion is the list that was there then, or says that it is gone', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 80 }), (commands) => {
      const store = new Store({ historyLimit: 20 });
      const moments: { revision: number; list: unknown }[] = [{ revision: 0, list: [] }];
      let value = 0;
      for (const { name, act } of commands) {
        value += 1;
        const current = store.get(resource, 'n', name)?.metadata.resourceVersion ?? '';
        if (act === 'create') store.create(resource, thing(name, value));
        else if (act === 'replace') store.replace(resource, thing(name, value), current);
        else if (act === 'delete') store.delete(resource, 'n', name);
        else if (act === 'compact') store.compact(Math.max(0, store.revision - 5));
        if (store.revision > (moments.at(-1)?.revision ?? 0))
          moments.push({ revision: store.revision, list: shown(store.list(resource)) });
      }
      for (const { revision, list } of moments) {
        const then = store.listAt(resource, revision);
        if (revision < store.compactedRevision) assert.equal(then, undefined);
        else assert.deepEqual(shown(then ?? []), list);
      }
    }),
  );
});

test('optimistic locking never loses a write: counting up by many hands counts all of them', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ writer: fc.nat(4), reads: fc.boolean() }), { maxLength: 200 }),
      (turns) => {
        const store = new Store();
        store.create(resource, thing('counter', 0));
        const hands = new Map<number, KubeObject>();
        let done = 0;
        for (const { writer, reads } of turns) {
          const held = hands.get(writer);
          if (reads || held === undefined) {
            const read = store.get(resource, 'n', 'counter');
            if (read !== undefined) hands.set(writer, read);
            continue;
          }
          const next = thing('counter', Number(held['value']) + 1);
          const outcome = store.replace(resource, next, held.metadata.resourceVersion ?? '');
          if (outcome.done) done += 1;
          hands.delete(writer);
        }
        assert.equal(store.get(resource, 'n', 'counter')?.['value'], done);
      },
    ),
  );
});

test('a snapshot that is put back is the whole state, with its resourceVersion', () => {
  const store = new Store();
  store.create(resource, thing('a', 1));
  const snapshot = store.snapshot();
  store.create(resource, thing('b', 2));
  let told = 0;
  store.onRestore(() => {
    told += 1;
  });
  store.restore(snapshot);
  assert.deepEqual(shown(store.list(resource)), [['a', '1', 1]]);
  assert.equal(store.revision, 1);
  assert.equal(told, 1);
  assert.equal(store.eventsAfter(0), undefined, 'what came before a restore is gone');
});

test('a delete that was decided on an older state takes nothing away', () => {
  const store = new Store();
  const made = store.create(resource, thing('a', 1));
  assert.ok(made.done);
  const stale = made.object.metadata.resourceVersion ?? '';
  const changed = store.replace(resource, thing('a', 2), stale);
  assert.ok(changed.done);
  const refused = store.delete(resource, 'n', 'a', stale);
  assert.deepEqual([refused.done, 'why' in refused && refused.why], [false, 'conflict']);
  assert.deepEqual(shown(store.list(resource)), shown([changed.object]));
  assert.ok(store.delete(resource, 'n', 'a', changed.object.metadata.resourceVersion).done);
  assert.deepEqual(store.list(resource), []);
});
