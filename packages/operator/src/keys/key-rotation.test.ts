import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotation } from '@slurm-operator/api';
import fc from 'fast-check';
import { aController } from '../../testing/objects.ts';
import { type KeyHolder, planKeyRotation, type RotationInput } from './key-rotation.ts';
import { clientHash, daemonHash, type KeySet } from './key-set.ts';

const set = (keys: readonly string[], signing: string, used = true): KeySet => ({
  keys,
  signing,
  since: 0,
  used,
});
const ctld = (hash: string, over: Partial<KeyHolder> = {}): KeyHolder => ({
  name: 'slurm-controller-0',
  role: 'slurmctld',
  hash,
  running: true,
  ...over,
});
const worker = (hash: string, over: Partial<KeyHolder> = {}): KeyHolder => ({
  ...ctld(hash),
  name: 'w-0',
  role: 'worker',
  ...over,
});
const input = (over: Partial<RotationInput>): RotationInput => ({
  controller: aController(),
  desired: 'b',
  current: set(['a'], 'a'),
  holders: [ctld('a'), worker('a')],
  exists: true,
  readWithin: 60_000,
  now: 1_000_000,
  ...over,
});
const next = (over: Partial<RotationInput>) => {
  const { write, keySet, waiting } = planKeyRotation(input(over));
  return { write: write ? [keySet?.keys.join(), keySet?.signing] : undefined, waiting };
};
const accept = set(['a', 'b'], 'a');
const sign = set(['a', 'b'], 'b');
const all = (hash: string) => [ctld(hash), worker(hash)];

test('the steps of a change: accept both, sign with the new one, drop the old one', () => {
  assert.deepEqual(next({ desired: 'a' }), { write: undefined, waiting: undefined });
  assert.deepEqual(next({}).write, ['a,b', 'a']);
  assert.deepEqual(next({ current: accept, holders: all(daemonHash(accept)) }).write, ['a,b', 'b']);
  assert.deepEqual(next({ current: sign, holders: all(daemonHash(sign)) }).write, ['b', 'b']);
});

test('another change in the middle: back to the old key, to a third one, or the present change first', () => {
  const holders = all(daemonHash(accept));
  assert.deepEqual(next({ current: accept, holders, desired: 'a' }).write, ['a', 'a']);
  assert.deepEqual(next({ current: accept, holders, desired: 'c' }).write, ['a,c', 'a']);
  assert.deepEqual(next({ current: sign, holders: all(daemonHash(sign)), desired: 'c' }).write, ['b', 'b']);
});

test('without keys in force, or before slurmctld ever responded, the key is taken at once', () => {
  const first = planKeyRotation(input({ current: undefined, exists: false })).keySet;
  assert.deepEqual([first?.keys, first?.used], [['b'], false]);
  assert.equal(planKeyRotation(input({ current: undefined })).keySet?.used, true, 'of an older operator');
  const unused = set(['a'], 'a', false);
  assert.deepEqual(next({ current: unused }).write, ['b', 'b']);
  assert.deepEqual(next({ current: unused, desired: 'a' }).write, undefined);
  const responds = [ctld('a', { ready: true }), worker('a')];
  const seen = planKeyRotation(input({ current: unused, holders: responds })).keySet;
  assert.deepEqual([seen?.keys, seen?.used], [['a'], true], 'first it is noted that jobs may run');
  assert.deepEqual(next({ desired: '' }), { write: undefined, waiting: undefined });
});

for (const { reason, holder, says } of [
  { reason: 'a worker with older keys', holder: worker('x'), says: /pod w-0, which has older keys/ },
  {
    reason: 'a worker on a lost node',
    holder: worker('a', { lostWith: 'rack-1' }),
    says: /its node rack-1 does not respond/,
  },
  {
    reason: 'a worker that was told a moment ago',
    holder: worker('a', { toldAt: 990_000 }),
    says: /which reads the new file by 00:17:30 UTC/,
  },
  {
    reason: 'a worker of an older operator',
    holder: worker('a', { hasOneKey: true }),
    says: /it can read one key only/,
  },
  {
    reason: 'a login node that does not run',
    holder: ctld('a', { name: 'login-1', role: 'client', running: false }),
    says: /pod login-1, which does not run/,
  },
])
  test(`the next step waits for ${reason}, and a person can force it`, () => {
    const holders = [ctld('a'), worker('a', { name: 'w-1' }), holder];
    const { write, waiting } = next({ holders });
    assert.equal(write, undefined);
    assert.match(waiting ?? '', says);
    const command = /kubectl annotate controller slurm -n hpc --overwrite (\S+)=(\S+)$/.exec(waiting ?? '');
    assert.equal(command?.[1], annotation.forceKey);
    const annotations = { [command?.[1] ?? '']: command?.[2] ?? '' };
    assert.deepEqual(next({ holders, controller: aController({}, { annotations }) }).write, ['a,b', 'a']);
  });

test('without a running slurmctld nothing is known, and nothing changes', () => {
  assert.equal(next({ holders: [worker('a')] }).write, undefined);
  assert.equal(next({ holders: [ctld('a', { running: false }), worker('a')] }).write, undefined);
});

/** A daemon of the model: what it has in memory, and what the operator can see of it. */
interface Daemon {
  readonly role: KeyHolder['role'];
  loaded: KeySet;
  hash: string;
  toldAt: number | undefined;
  /** When a worker reads what it was told of. */
  readsAt: number | undefined;
}

type Event =
  | { readonly does: 'change the key'; readonly key: string }
  | { readonly does: 'restart'; readonly n: number }
  | { readonly does: 'wait'; readonly ms: number }
  | { readonly does: 'reconcile'; readonly delay: number };

const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ does: fc.constant('change the key' as const), key: fc.constantFrom('a', 'b', 'c', 'd') }),
  fc.record({ does: fc.constant('restart' as const), n: fc.nat(5) }),
  fc.record({ does: fc.constant('wait' as const), ms: fc.nat(70_000) }),
  fc.record({ does: fc.constant('reconcile' as const), delay: fc.nat(60_000) }),
);

class Model {
  now = 1_000_000;
  desired = 'a';
  inForce = set(['a'], 'a');
  readonly daemons: Daemon[] = (['slurmctld', 'worker', 'worker', 'worker', 'client'] as const).map(
    (role) => ({
      role,
      loaded: this.inForce,
      hash: 'a',
      toldAt: undefined,
      readsAt: undefined,
    }),
  );

  apply(one: Event): void {
    switch (one.does) {
      case 'change the key':
        this.desired = one.key;
        return;
      case 'wait':
        this.now += one.ms;
        for (const daemon of this.daemons)
          if (daemon.readsAt !== undefined && daemon.readsAt <= this.now) this.#load(daemon);
        return;
      case 'restart': {
        // Whatever starts reads what is in force.
        const daemon = this.daemons[one.n % this.daemons.length];
        if (daemon !== undefined) this.#load(daemon);
        return;
      }
      case 'reconcile':
        return this.#reconcile(one.delay);
      default:
        return one satisfies never;
    }
  }

  #reconcile(delay: number): void {
    const { keySet, write } = planKeyRotation(
      input({
        desired: this.desired,
        current: this.inForce,
        holders: this.daemons.map(({ role, hash, toldAt }, n) => ({
          name: `${role}-${n}`,
          role,
          hash,
          toldAt,
          running: true,
        })),
        now: this.now,
      }),
    );
    if (write && keySet !== undefined) this.inForce = keySet;
    for (const daemon of this.daemons) {
      const wanted = daemon.role === 'client' ? clientHash(this.inForce) : daemonHash(this.inForce);
      if (daemon.hash === wanted) continue;
      if (daemon.role === 'worker') {
        daemon.hash = wanted;
        daemon.toldAt = this.now;
        daemon.readsAt = this.now + delay;
      } else this.#load(daemon);
    }
  }

  #load(daemon: Daemon): void {
    daemon.loaded = this.inForce;
    daemon.readsAt = undefined;
    if (daemon.role !== 'worker')
      daemon.hash = daemon.role === 'client' ? clientHash(this.inForce) : daemonHash(this.inForce);
  }

  check(): void {
    // slurmdbd and login nodes keep signing with the old key until they restart, after it was dropped.
    for (const from of this.daemons)
      for (const to of this.daemons)
        if (from.role !== 'client')
          assert.ok(
            to.loaded.keys.includes(from.loaded.signing),
            `${to.role} with ${JSON.stringify(to.loaded)} refuses ${from.role} with ${JSON.stringify(from.loaded)}`,
          );
  }
}

test('in every history of changes, restarts and delays daemons understand slurmctld and the workers, and end on the last key', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const model = new Model();
      for (const one of events) {
        model.apply(one);
        model.check();
      }
      for (let i = 0; i < 12; i += 1) {
        model.apply({ does: 'reconcile', delay: 60_000 });
        model.check();
        model.apply({ does: 'wait', ms: 60_000 });
        model.check();
      }
      assert.deepEqual([model.inForce.keys, model.inForce.signing], [[model.desired], model.desired]);
    }),
    { numRuns: 200 },
  );
});
