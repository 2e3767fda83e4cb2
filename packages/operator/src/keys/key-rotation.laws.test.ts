/** In every history of changes, restarts, standbys, crashes and delays any two daemons understand each other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aController } from '../../testing/objects.ts';
import { type KeyHolder, type KeyRole, planKeyRotation, type RotationInput } from './key-rotation.ts';
import { daemonHash, following, type KeySet, loginHash } from './key-set.ts';

const stepPeriod = 60_000;
const first: KeySet = { keys: ['a'], signing: 'a', since: 0, used: true };

/** A daemon of the model: what it has in memory, and what the operator can see of it. */
interface Daemon {
  readonly name: string;
  readonly role: KeyRole;
  /** Undefined while there is no pod or it does not run. */
  loaded: KeySet | undefined;
  /** The set of its pod, or for a worker the one that it was notified of; undefined without a pod. */
  told: KeySet | undefined;
  /** What the slurmd of a worker reported. */
  read: string | undefined;
}

type Event =
  | { readonly does: 'change the key'; readonly key: string }
  | { readonly does: 'end'; readonly n: number }
  | { readonly does: 'start'; readonly n: number; readonly stale: boolean; readonly staleFile: boolean }
  | { readonly does: 'read'; readonly n: number }
  | { readonly does: 'standby'; readonly on: boolean }
  | { readonly does: 'wait'; readonly ms: number }
  | { readonly does: 'reconcile'; readonly crashes: boolean };

const n = fc.nat(6);
const event: fc.Arbitrary<Event> = fc.oneof(
  {
    arbitrary: fc.record({
      does: fc.constant('change the key' as const),
      key: fc.constantFrom('a', 'b', 'c', 'd'),
    }),
    weight: 2,
  },
  { arbitrary: fc.record({ does: fc.constant('end' as const), n }), weight: 2 },
  {
    arbitrary: fc.record({
      does: fc.constant('start' as const),
      n,
      stale: fc.boolean(),
      staleFile: fc.boolean(),
    }),
    weight: 4,
  },
  { arbitrary: fc.record({ does: fc.constant('read' as const), n }), weight: 2 },
  { arbitrary: fc.record({ does: fc.constant('standby' as const), on: fc.boolean() }), weight: 1 },
  { arbitrary: fc.record({ does: fc.constant('wait' as const), ms: fc.nat(70_000) }), weight: 3 },
  { arbitrary: fc.record({ does: fc.constant('reconcile' as const), crashes: fc.boolean() }), weight: 8 },
);

/** Faults that the operator could have. */
interface Faults {
  /** Only pods that exist count. */
  readonly ignoresMissingPods?: boolean;
  /** A worker that was notified counts as one that read the keys. */
  readonly trustsNotification?: boolean;
  /** All pods are started with whatever their kubelet has, which may be older than what their template names. */
  readonly startsWithStaleFile?: boolean;
}

class World {
  now = 1_000_000;
  desired = 'a';
  inForce = first;
  /** What a workload controller with an old copy creates pods from, and what a kubelet with an old copy has. */
  readonly #seen = new Map<string, KeySet>();
  #oldFile = first;
  standbys = 0;
  readonly faults: Faults;
  readonly daemons: Daemon[];

  constructor(faults: Faults) {
    this.faults = faults;
    const daemon = (name: string, role: KeyRole, exists = true): Daemon => ({
      name,
      role,
      loaded: exists ? first : undefined,
      told: exists ? first : undefined,
      read: exists ? hashOf(role, first) : undefined,
    });
    this.daemons = [
      daemon('ctld-0', 'slurmctld'),
      daemon('ctld-1', 'slurmctld', false),
      daemon('dbd', 'slurmdbd'),
      daemon('login', 'login'),
      daemon('w-0', 'worker'),
      daemon('w-1', 'worker'),
      daemon('w-2', 'worker'),
    ];
  }

  apply(one: Event): void {
    switch (one.does) {
      case 'change the key':
        this.desired = one.key;
        return;
      case 'wait':
        this.now += one.ms;
        return;
      case 'standby':
        this.standbys = one.on ? 1 : 0;
        if (!one.on) this.#end(this.daemons[1]);
        return;
      case 'end':
        return this.#end(this.daemons[one.n]);
      case 'start':
        return this.#start(this.daemons[one.n], one);
      case 'read':
        return this.#read(this.daemons[one.n]);
      case 'reconcile':
        return this.#reconcile(one.crashes);
      default:
        return one satisfies never;
    }
  }

  #end(daemon: Daemon | undefined): void {
    if (daemon === undefined) return;
    daemon.loaded = undefined;
    daemon.read = undefined;
    // The pod of a worker stays, or is replaced by one that is notified of what is in force; others are recreated.
    if (daemon.role !== 'worker') daemon.told = undefined;
  }

  #start(
    daemon: Daemon | undefined,
    { stale, staleFile }: { readonly stale: boolean; readonly staleFile: boolean },
  ): void {
    if (daemon === undefined || daemon.loaded !== undefined) return;
    if (daemon.name === 'ctld-1' && this.standbys === 0) return;
    if (daemon.role !== 'worker') {
      if (!stale) this.#seen.set(daemon.name, this.inForce);
      daemon.told = this.#seen.get(daemon.name) ?? first;
    }
    daemon.loaded = staleFile && this.faults.startsWithStaleFile === true ? this.#oldFile : daemon.told;
    // A file is as old as the last one that was read; the next is newer.
    if (!staleFile) this.#oldFile = this.inForce;
    daemon.read = daemon.loaded && hashOf(daemon.role, daemon.loaded);
  }

  #read(daemon: Daemon | undefined): void {
    if (daemon?.role !== 'worker' || daemon.loaded === undefined) return;
    daemon.loaded = daemon.told;
    daemon.read = daemon.loaded && hashOf('worker', daemon.loaded);
  }

  #reconcile(crashes: boolean): void {
    const { keySet, write } = planKeyRotation(this.#input());
    if (write && keySet !== undefined) {
      this.inForce = keySet;
    }
    if (crashes) return;
    for (const daemon of this.daemons) {
      if (daemon.told === undefined || hashOf(daemon.role, daemon.told) === hashOf(daemon.role, this.inForce))
        continue;
      if (daemon.role === 'worker') daemon.told = this.inForce;
      else this.#end(daemon);
    }
  }

  #input(): RotationInput {
    const { ignoresMissingPods = false, trustsNotification = false } = this.faults;
    const holders = this.daemons.flatMap(({ name, role, told, loaded, read }): KeyHolder[] => {
      if (told === undefined) return [];
      const hash = hashOf(role, told);
      const running = loaded !== undefined;
      return [{ name, role, hash, running, scheduled: true, read: trustsNotification ? hash : read }];
    });
    return {
      controller: aController(),
      desired: this.desired,
      current: this.inForce,
      holders,
      wanted: ignoresMissingPods
        ? { slurmctld: 0, slurmdbd: 0, login: 0 }
        : { slurmctld: 1 + this.standbys, slurmdbd: 1, login: 1 },
      exists: true,
      stepPeriod,
      now: this.now,
    };
  }

  check(): void {
    // Login nodes keep signing with the old key until they restart, after it was dropped: their commands fail for a moment.
    for (const from of this.daemons)
      for (const to of this.daemons)
        if (from.role !== 'login' && from.loaded !== undefined && to.loaded !== undefined)
          assert.ok(
            to.loaded.keys.includes(from.loaded.signing),
            `${to.name} with ${to.loaded.keys.join()} refuses ${from.name}, which signs with ${from.loaded.signing}`,
          );
  }

  /** Everything starts and reads what it should, and the operator goes on. */
  settle(): void {
    for (let i = 0; i < 16; i += 1) {
      this.apply({ does: 'reconcile', crashes: false });
      this.check();
      for (let one = 0; one < this.daemons.length; one += 1) {
        this.apply({ does: 'start', n: one, stale: false, staleFile: false });
        this.apply({ does: 'read', n: one });
        this.check();
      }
      this.apply({ does: 'wait', ms: stepPeriod });
    }
  }
}

const hashOf = (role: KeyRole, keySet: KeySet): string =>
  role === 'login' ? loginHash(keySet) : daemonHash(keySet);

const histories = (faults: Faults) =>
  fc.property(fc.array(event, { maxLength: 80, size: 'max' }), (events) => {
    const world = new World(faults);
    for (const one of events) {
      world.apply(one);
      world.check();
    }
    world.settle();
    assert.deepEqual(following({ ...world.inForce, before: [] }, undefined).keys, [world.desired]);
    assert.equal(world.inForce.signing, world.desired);
  });

test('daemons understand each other in every history, and end on the last key', () => {
  fc.assert(histories({}), { numRuns: 200 });
});

for (const fault of ['ignoresMissingPods', 'trustsNotification', 'startsWithStaleFile'] as const)
  test(`planted: an operator that ${fault} is found`, () => {
    const { failed, numRuns } = fc.check(histories({ [fault]: true }), {
      numRuns: 2000,
      seed: 7,
      endOnFailure: true,
    });
    assert.ok(failed, 'no history shows it');
    console.log(`${fault}: found after ${numRuns} histories`);
  });
