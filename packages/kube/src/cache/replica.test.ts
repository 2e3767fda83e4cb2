/** Property test of the cache: with any order of lists, events and responses, the copy ends equal to the server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type KubeObject, keyOf, type Live } from '../objects/object.ts';
import { type Change, Replica } from './replica.ts';
import { Store } from './store.ts';

interface Thing extends KubeObject {
  metadata: KubeObject['metadata'];
  wanted: boolean;
}
type LiveThing = Live<Thing>;
interface ServerEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: LiveThing;
}

/** A server of one resource type, a watch, and responses that have not arrived yet. */
class World {
  readonly objects = new Map<string, LiveThing>();
  readonly log: ServerEvent[] = [];
  readonly answers: { readonly take: () => void }[] = [];
  readonly store = new Store<Thing>();
  readonly seen = new Map<string, LiveThing>();
  /** Uids that were reported as added and not as deleted since. */
  readonly alive = new Set<string>();
  readonly removed = new Set<string>();
  /** The newest state of each name in a response: the cache must not return anything older afterwards. */
  readonly promised = new Map<string, number>();
  readonly replica: Replica<Thing>;
  version = 10;
  uids = 0;
  /** Events of the log up to here were delivered; undefined: no watch. */
  position: number | undefined;
  listing: { objects: LiveThing[]; version: string; at: number } | 'asked' | undefined;

  constructor() {
    this.replica = new Replica<Thing>({
      store: this.store,
      matches: (object) => object.wanted,
      transform: (object) => object,
      onChange: (change) => this.#follow(change),
    });
  }

  /** A subscriber that only sees changes must end with the same state, by name and by uid. */
  #follow(change: Change<Thing>): void {
    const { uid } = change.object.metadata;
    assert.equal(this.alive.has(uid), change.type !== 'added', `${change.type} ${uid}`);
    if (change.type === 'updated') assert.equal(change.previous.metadata.uid, uid);
    if (change.type === 'deleted') this.seen.delete(change.key);
    else this.seen.set(change.key, change.object);
    if (change.type === 'deleted') this.alive.delete(uid);
    else this.alive.add(uid);
    if (change.type === 'added') assert.ok(this.store.get(change.key));
  }

  #thing(name: string, uid: string, wanted: boolean): LiveThing {
    this.version += 1;
    const metadata = { name, uid, resourceVersion: String(this.version), creationTimestamp: '' };
    return { apiVersion: 'v1', kind: 'Thing', metadata, wanted };
  }

  /** The event that a watch with our selector receives for this change. */
  #announce(before: LiveThing | undefined, after: LiveThing | undefined): void {
    const was = before?.wanted === true;
    const is = after?.wanted === true;
    if (after !== undefined && is) this.log.push({ type: was ? 'MODIFIED' : 'ADDED', object: after });
    else if (before !== undefined && was) {
      const resourceVersion = after?.metadata.resourceVersion ?? String((this.version += 1));
      this.log.push({
        type: 'DELETED',
        object: { ...before, metadata: { ...before.metadata, resourceVersion } },
      });
    }
  }

  write(name: string, wanted: boolean, own: boolean): void {
    const before = this.objects.get(name);
    const after = this.#thing(name, before?.metadata.uid ?? `uid-${(this.uids += 1)}`, wanted);
    this.objects.set(name, after);
    this.#announce(before, after);
    if (!own) return;
    this.answers.push({
      take: () => {
        this.replica.written(after);
        const promised = this.promised.get(name) ?? 0;
        this.promised.set(name, Math.max(promised, Number(after.metadata.resourceVersion)));
      },
    });
  }

  remove(name: string, own: boolean): void {
    const before = this.objects.get(name);
    if (before === undefined) return;
    this.objects.delete(name);
    this.#announce(before, undefined);
    if (!own) return;
    this.answers.push({
      take: () => {
        this.replica.gone({ name }, before.metadata.uid);
        this.removed.add(before.metadata.uid);
      },
    });
  }

  answer(which: number): void {
    const [answer] = this.answers.splice(which % Math.max(1, this.answers.length), 1);
    answer?.take();
  }

  deliver(): void {
    if (this.position === undefined) return;
    const event = this.log[this.position];
    if (event === undefined) return;
    this.position += 1;
    this.replica.event(event.type, event.object);
  }

  bookmark(): void {
    if (this.position === this.log.length) this.replica.bookmark(String(this.version));
  }

  /** A list in three steps: request, snapshot on the server, end of the response. */
  list(): void {
    if (this.listing === undefined) {
      this.position = undefined;
      this.replica.beginList();
      this.listing = 'asked';
    } else if (this.listing === 'asked') {
      const objects = [...this.objects.values()].filter((object) => object.wanted);
      this.listing = { objects, version: String(this.version), at: this.log.length };
    } else {
      for (const object of this.listing.objects) this.replica.listed(object);
      this.replica.endList(this.listing.version);
      this.position = this.listing.at;
      this.listing = undefined;
    }
  }

  breakList(): void {
    if (this.listing === undefined) return;
    this.replica.abandonList();
    this.listing = undefined;
  }

  /** Restores the server from a snapshot, with lower resourceVersions. Connections break, so pending responses are lost. */
  restore(snapshot: { objects: Map<string, LiveThing>; version: number }): void {
    this.breakList();
    this.answers.length = 0;
    this.position = undefined;
    this.objects.clear();
    for (const [name, object] of snapshot.objects) this.objects.set(name, object);
    this.version = snapshot.version;
    this.removed.clear();
    this.promised.clear();
  }

  snapshot(): { objects: Map<string, LiveThing>; version: number } {
    return { objects: new Map(this.objects), version: this.version };
  }

  checkNow(): void {
    for (const [name, version] of this.replica.progress === '' ? [] : this.promised)
      assert.ok(
        Number(this.store.get(name)?.metadata.resourceVersion ?? version) >= version,
        `${name} went back in time`,
      );
    for (const object of this.store.list())
      assert.ok(
        !this.removed.has(object.metadata.uid),
        `${object.metadata.name} came back after our delete was answered`,
      );
    assert.deepEqual(new Map(this.store.list().map((object) => [keyOf(object), object])), this.seen);
    assert.deepEqual(new Set(this.store.list().map((object) => object.metadata.uid)), this.alive);
  }

  /** Delivers everything that is pending. */
  finish(relist: boolean): void {
    while (this.answers.length > 0) this.answer(0);
    if (relist || this.position === undefined) {
      this.breakList();
      this.list();
      this.list();
      this.list();
    }
    while (this.position !== undefined && this.position < this.log.length) this.deliver();
    this.checkNow();
    const expected = new Map([...this.objects].filter(([, object]) => object.wanted));
    assert.deepEqual(new Map(this.store.list().map((object) => [keyOf(object), object])), expected);
    for (let moment = 0; moment < 3; moment += 1) this.list();
    assert.deepEqual(new Map(this.store.list().map((object) => [keyOf(object), object])), expected);
    assert.equal(this.replica.tombstoneCount, 0, 'no memory of deletes stays behind a list');
  }
}

const names = fc.constantFrom('a', 'b');
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant('write' as const),
      name: names,
      wanted: fc.boolean(),
      own: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('remove' as const), name: names, own: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ op: fc.constant('answer' as const), which: fc.nat(5) }) },
  { weight: 6, arbitrary: fc.record({ op: fc.constant('deliver' as const) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('list' as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constantFrom('breakList' as const, 'bookmark' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

function play(world: World, move: Step): void {
  if (move.op === 'write') world.write(move.name, move.wanted, move.own);
  else if (move.op === 'remove') world.remove(move.name, move.own);
  else if (move.op === 'answer') world.answer(move.which);
  else world[move.op]();
  world.checkNow();
}

test('any order of lists, events and responses ends equal to the server, and deleted objects stay deleted', () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 8, maxLength: 60, size: 'max' }),
      fc.boolean(),
      (steps, watching) => {
        const world = new World();
        if (watching) for (let moment = 0; moment < 3; moment += 1) world.list();
        for (const move of steps) play(world, move);
        world.finish(false);
      },
    ),
    { numRuns: 4_000 },
  );
});

test('the next list recovers lost events', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(step, fc.boolean()), { minLength: 8, maxLength: 50, size: 'max' }),
      (steps) => {
        const world = new World();
        for (let moment = 0; moment < 3; moment += 1) world.list();
        for (const [move, lost] of steps) {
          if (
            move.op === 'deliver' &&
            lost &&
            world.position !== undefined &&
            world.position < world.log.length
          )
            world.position += 1;
          else if (move.op === 'write' || move.op === 'deliver' || move.op === 'list') play(world, move);
        }
        world.finish(true);
      },
    ),
    { numRuns: 1_000 },
  );
});

test('follows a server that was restored from an older snapshot after the next list', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 30 }),
      fc.array(step, { maxLength: 30 }),
      fc.array(step, { maxLength: 30 }),
      (before, lost, after) => {
        const world = new World();
        for (const move of before) play(world, move);
        const snapshot = world.snapshot();
        for (const move of lost) play(world, move);
        world.restore(snapshot);
        world.log.length = 0;
        world.list();
        world.list();
        world.list();
        for (const move of after) play(world, move);
        world.finish(false);
      },
    ),
    { numRuns: 1_000 },
  );
});

test('an inconsistent event reports that events were lost', () => {
  const world = new World();
  world.write('a', true, false);
  for (let moment = 0; moment < 3; moment += 1) world.list();
  const known = world.store.get('a');
  assert.ok(known);
  const unknown: LiveThing = {
    ...known,
    metadata: { ...known.metadata, name: 'z', uid: 'z', resourceVersion: '900' },
  };
  assert.equal(world.replica.event('MODIFIED', unknown), false);
  assert.equal(
    world.replica.event('ADDED', { ...unknown, metadata: { ...unknown.metadata, name: 'y', uid: 'y' } }),
    true,
  );
  assert.equal(
    world.replica.event('DELETED', { ...unknown, metadata: { ...unknown.metadata, name: 'x', uid: 'x' } }),
    false,
  );
});
