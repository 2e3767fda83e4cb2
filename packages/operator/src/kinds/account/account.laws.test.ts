/**
 * Laws of declared accounts: random edits by several people and by someone else in Slurm, crashes of the operator between its writes, lists
 * that are old, a database that is silent, two clusters. What the operator does is decided by its own plan and status; the database is in
 * memory.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Account } from '@slurm-operator/api';
import type { Live } from '@slurm-operator/kube';
import {
  type AccountChanges,
  type AssociationRow,
  emptyAssociation,
  type SlurmAccount,
} from '@slurm-operator/slurm';
import { Random, randomAssociation } from '@slurm-operator/slurm/testing';
import { anAccount } from '../../../testing/objects.ts';
import { outcome } from '../../../testing/outcome.ts';
import { type AccountRows, knownAccounts, rowKey } from '../../slurm-connection/accounting-rows.ts';
import { changesOf } from './act.ts';
import { writeRows } from './applied.ts';
import { appliedBeforeWrite } from './applied-rows.ts';
import { associationFields, desiredRows, placeOf, rowIdOf } from './fields.ts';
import type { ObservedAccount } from './observe.ts';
import { planAccount } from './plan.ts';
import { accountStatus } from './status.ts';

const names = ['a', 'b', 'c'] as const;
const users = ['u', 'v', 'w'] as const;
const clusters = ['one', 'two'] as const;
const foreignName = 'theirs';
type Fault = 'adopts' | 'forgets-applied' | 'writes-whole' | 'removes-others' | 'forgets-members';

class World {
  readonly records = new Map<string, SlurmAccount>();
  readonly rows = new Map<string, AssociationRow>();
  readonly objects = new Map<string, Live<Account>>();
  /** The list that the operator read last. */
  #listed: AccountRows = { kind: 'unknown', why: 'not asked' };
  readonly #fault: Fault | undefined;

  constructor(fault?: Fault) {
    this.#fault = fault;
    for (const cluster of clusters) this.#put(emptyAssociation(keyOf(cluster, 'root')));
  }

  declare(name: string, spec: object): void {
    const before = this.objects.get(name);
    const object = anAccount(spec, { name }) as unknown as Live<Account>;
    this.objects.set(name, { ...object, ...(before?.status && { status: before.status }) });
  }

  list(): void {
    this.#listed = this.#known();
  }

  silence(): void {
    this.#listed = { kind: 'unknown', why: 'no answer' };
  }

  /** Someone else creates or changes a row. */
  intrude(row: AssociationRow): void {
    const { cluster, account, user } = row;
    if (!this.records.has(account)) this.records.set(account, recordOf(account));
    if (!this.rows.has(rowKey(cluster, account)))
      this.#put(emptyAssociation(keyOf(cluster, account), 'root'));
    this.#put(
      user === '' ? { ...row, parent: this.rows.get(rowKey(cluster, account))?.parent ?? 'root' } : row,
    );
  }

  /** It ends after so many writes: status, Slurm, status. */
  reconcile(name: string, writes = 4): void {
    const account = this.objects.get(name);
    if (account === undefined) return;
    const observed = this.#observe(account, this.#listed);
    const plan = planAccount(observed, 0);
    const { write, removal } = plan;
    let isRecorded = true;
    if (write !== undefined) {
      // As the actor does: a fresh list must lead to the same decision.
      const known = this.#known();
      const again = planAccount(this.#observe(account, known), 0);
      isRecorded = this.#fault === 'adopts' || JSON.stringify(again.write) === JSON.stringify(write);
      if (isRecorded) {
        if (writes < 1) return;
        if (this.#fault !== 'forgets-applied')
          this.#store(name, { applied: writeRows(appliedBeforeWrite(again)) });
        if (writes < 2) return;
        const base =
          this.#fault === 'writes-whole' ? { ...known, byKey: new Map<string, AssociationRow>() } : known;
        this.#apply(changesOf(name, write, base));
      }
    }
    if (writes < 3) return;
    for (const { cluster, user } of removal?.members ?? []) this.rows.delete(rowKey(cluster, name, user));
    if (this.#fault === 'removes-others')
      for (const row of this.rows.values())
        if (
          row.account === name &&
          row.user !== '' &&
          plan.desired.size > 0 &&
          !plan.desired.has(rowIdOf(row.cluster, row.user))
        )
          this.rows.delete(rowKey(row.cluster, row.account, row.user));
    if (write !== undefined || removal !== undefined) this.list();
    if (writes < 4) return;
    const notes = isRecorded ? [] : [{ about: 'write' as const, isRecorded: false }];
    const { fields = {} } = accountStatus({ ...outcome(observed, plan, true), notes });
    const applied = (fields['applied'] ?? {}) as Readonly<Record<string, string>>;
    const remembered = Object.entries(applied).filter(([id]) => plan.desired.has(id));
    const isForgetful = this.#fault === 'forgets-members';
    this.#store(name, isForgetful ? { ...fields, applied: Object.fromEntries(remembered) } : fields);
  }

  #known = () => knownAccounts([...this.records.values()], [...this.rows.values()], 0);

  #apply({ accounts, records, rows }: AccountChanges): void {
    for (const { cluster, name, parent } of accounts) {
      assert.ok(this.rows.has(rowKey(cluster, parent)), `parent ${parent}`);
      if (!this.records.has(name)) this.records.set(name, recordOf(name));
      this.#put(emptyAssociation(keyOf(cluster, name), parent));
    }
    for (const record of records) {
      const current = this.records.get(record.name);
      assert.ok(current, record.name);
      this.records.set(record.name, { ...current, ...record });
    }
    for (const row of rows) {
      assert.ok(this.rows.has(rowKey(row.cluster, row.account)), `${row.account} of ${row.user}`);
      if (row.isDefault)
        for (const [key, other] of this.rows)
          if (other.user === row.user && other.cluster === row.cluster && other.isDefault)
            this.rows.set(key, { ...other, isDefault: false });
      const current = this.rows.get(rowKey(row.cluster, row.account, row.user));
      this.#put({ ...row, parent: row.parent === '' ? (current?.parent ?? '') : row.parent });
    }
  }

  #put(row: AssociationRow): void {
    this.rows.set(rowKey(row.cluster, row.account, row.user), row);
  }

  #observe(account: Live<Account>, rows: AccountRows): ObservedAccount {
    return {
      account,
      isDeleted: false,
      hasFinalizer: false,
      accountingExists: true,
      controllers: clusters.map((cluster) => ({ name: cluster, cluster })),
      rows,
      qos: { kind: 'known', at: 0, byName: new Map([['normal', { name: 'normal' }]]) },
      conflict: undefined,
      parents: new Map(),
      defaultsElsewhere: new Map(),
    };
  }

  #store(name: string, status: object): void {
    const object = this.objects.get(name);
    if (object !== undefined) this.objects.set(name, { ...object, status });
  }
}

const keyOf = (cluster: string, account: string, user = '') => ({ cluster, account, user, partition: '' });
const recordOf = (name: string): SlurmAccount => ({
  name,
  description: '',
  organization: '',
  coordinators: [],
  flags: [],
});

const specOf = (random: Random): object => {
  const some = <T>(value: T): T | undefined => (random.next() < 0.5 ? value : undefined);
  const count = () => random.below(3);
  const tres = () =>
    Object.fromEntries(['cpu', 'mem'].filter(() => random.next() < 0.5).map((type) => [type, count()]));
  const share = () => ({
    fairshare: some(random.next() < 0.3 ? 'parent' : 1 + count()),
    qos: some(['normal']),
    limits: some({
      group: some({ jobs: some(count()), tres: some(tres()), wall: some(`${1 + count()}h`) }),
      perMember: some({ jobs: some(count()), tresRunMinutes: some(tres()) }),
      perJob: some({ tresPerNode: some(tres()) }),
    }),
  });
  const members = users.filter(() => random.next() < 0.5).map((user) => ({ user, ...share() }));
  return JSON.parse(
    JSON.stringify({
      description: some('words'),
      ...share(),
      members: some(members),
      clusters: some(random.next() < 0.5 ? ['one'] : ['one', 'two']),
      drift: random.next() < 0.5 ? 'Correct' : 'Report',
      adopt: random.next() < 0.3,
    }),
  ) as object;
};

const withoutDefault = (row: AssociationRow | undefined) =>
  row && JSON.stringify({ ...row, isDefault: false });

/** Throws where a law is broken. */
function history(seed: number, steps: number, fault?: Fault): void {
  const random = new Random(seed);
  const world = new World(fault);
  for (const user of ['', 'u'])
    world.intrude(randomAssociation(emptyAssociation(keyOf('one', foreignName, user)), random));
  const theirs = () =>
    JSON.stringify([...world.rows.values()].filter(({ account }) => account === foreignName));
  const before = theirs();
  /** Fields that an object has named, by row. */
  const named = new Map<string, Set<string>>();
  const foreign = new Map<string, AssociationRow>();
  for (let step = 0; step < steps; step += 1) {
    const name = random.pick(names) ?? 'a';
    const choice = random.next();
    if (choice < 0.35) {
      world.declare(name, specOf(random));
      const object = world.objects.get(name);
      if (object !== undefined)
        for (const [id, fields] of desiredRows(object, {
          clusters: object.spec.clusters ?? clusters,
          defaultsElsewhere: new Map(),
        })) {
          const place = placeOf(id);
          if (place === undefined) continue;
          const key = rowKey(place.cluster, name, place.user);
          const paths = named.get(key) ?? new Set();
          for (const path of Object.keys(fields)) paths.add(path);
          named.set(key, paths);
        }
    } else if (choice < 0.5) {
      const user = random.next() < 0.4 ? '' : (random.pick(users) ?? 'u');
      const empty = emptyAssociation(keyOf(random.pick(clusters) ?? 'one', name, user));
      world.intrude(randomAssociation(empty, random));
      const key = rowKey(empty.cluster, name, user);
      foreign.set(key, world.rows.get(key) ?? empty);
    } else if (choice < 0.6) world.list();
    else if (choice < 0.65) world.silence();
    else {
      const rows = new Map(world.rows);
      const object = world.objects.get(name);
      const isAdopted = object?.status?.applied !== undefined || object?.spec.adopt;
      if (random.next() < 0.5) world.list();
      world.reconcile(name, random.below(5));
      for (const [key, row] of rows) {
        const isOther = row.account !== name;
        const isForeign = row.user !== '' && !named.has(key);
        if (isOther || isForeign)
          assert.equal(
            withoutDefault(world.rows.get(key)),
            withoutDefault(row),
            `${key} was touched for ${name}`,
          );
      }
      for (const [key, row] of world.rows)
        if (!rows.has(key)) assert.ok(row.account === name && named.has(key), `${key} was created`);
      const existed = clusters.some((cluster) => rows.has(rowKey(cluster, name)));
      if (existed && isAdopted !== true)
        for (const [key, row] of rows)
          if (row.account === name) assert.equal(world.rows.get(key), row, `${key} was not adopted`);
    }
    for (const [key, wrote] of foreign) {
      const now = world.rows.get(key);
      if (now === undefined) {
        // A member that an object named may leave with it.
        assert.ok(named.has(key), `${key} was removed`);
        foreign.delete(key);
        continue;
      }
      const [fields, then] = [associationFields(now), associationFields(wrote)];
      for (const path of new Set([...Object.keys(fields), ...Object.keys(then)]))
        if (path !== 'isDefault' && !named.get(key)?.has(path))
          assert.deepEqual(fields[path], then[path], `${key} ${path}`);
    }
    assert.equal(theirs(), before);
  }
  for (const name of names) {
    const spec = world.objects.get(name)?.spec;
    if (spec === undefined) continue;
    world.declare(name, { ...spec, adopt: true, drift: 'Correct' });
    world.list();
    for (let round = 0; round < 3; round += 1) world.reconcile(name);
    const object = world.objects.get(name);
    assert.ok(object !== undefined);
    const desired = desiredRows(object, {
      clusters: spec.clusters ?? clusters,
      defaultsElsewhere: new Map(),
    });
    for (const [id, fields] of desired) {
      const place = placeOf(id);
      if (place === undefined) {
        if (fields['description'] !== undefined)
          assert.equal(world.records.get(name)?.description, fields['description']);
        continue;
      }
      const key = rowKey(place.cluster, name, place.user);
      const row = world.rows.get(key);
      assert.ok(row, key);
      const now = associationFields(row);
      for (const [path, value] of Object.entries(fields))
        assert.deepEqual(now[path], value, `${key} ${path}`);
      // Whatever was written before, and wherever a crash came between, nothing is left of it.
      if (!foreign.has(key)) {
        const fresh = associationFields(emptyAssociation(keyOf(place.cluster, name, place.user), row.parent));
        assert.deepEqual(now, { ...fresh, ...fields }, key);
      }
    }
    // Members that were declared once, and are in no foreign row, are gone on the clusters of the specification.
    for (const row of world.rows.values()) {
      const key = rowKey(row.cluster, row.account, row.user);
      const isMeant =
        row.account === name && row.user !== '' && (spec.clusters ?? clusters).includes(row.cluster);
      if (isMeant && !foreign.has(key))
        assert.ok(desired.has(rowIdOf(row.cluster, row.user)), `${key} stayed`);
    }
    const [rows, applied] = [new Map(world.rows), object.status?.applied];
    world.list();
    world.reconcile(name);
    for (const [key, row] of rows) assert.equal(world.rows.get(key), row, `at rest ${key} is not written`);
    assert.deepEqual(world.objects.get(name)?.status?.applied, applied);
  }
}

const runs = Number(process.env['LAWS_RUNS'] ?? 250);
const first = Number(process.env['SEED'] ?? 1);

test(`no row or field is touched that no specification names, in ${runs * 40} random steps`, () => {
  for (let seed = first; seed < first + runs; seed += 1)
    try {
      history(seed, 40);
    } catch (error) {
      throw new Error(`SEED=${seed}`, { cause: error });
    }
});

for (const fault of [
  'adopts',
  'forgets-applied',
  'writes-whole',
  'removes-others',
  'forgets-members',
] as const)
  test(`a planted fault is found: ${fault}`, () => {
    const isFound = Array.from({ length: 200 }, (_, seed) => seed + 1).some((seed) => {
      try {
        history(seed, 40, fault);
        return false;
      } catch (error) {
        if (error instanceof assert.AssertionError) return true;
        throw error;
      }
    });
    assert.ok(isFound);
  });
