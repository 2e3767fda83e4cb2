/**
 * Laws of declared QOS: random edits by several people and by someone else in Slurm, crashes of the operator between its writes, lists that
 * are old, a database that is silent. What the operator does is decided by its own plan and status; the database is in memory.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QualityOfService } from '@slurm-operator/api';
import type { Live } from '@slurm-operator/kube';
import type { SlurmQos } from '@slurm-operator/slurm';
import { Random, randomQos } from '@slurm-operator/slurm/testing';
import { aQualityOfService } from '../../../testing/objects.ts';
import { outcome } from '../../../testing/outcome.ts';
import { appliedBefore } from '../../declared/decide.ts';
import { readApplied, writeApplied } from '../../declared/stored.ts';
import type { Rows } from '../../slurm-connection/accounting-rows.ts';
import { changedRow, desiredFields, rowFields, unsetFields } from './fields.ts';
import type { ObservedQos } from './observe.ts';
import { planQos } from './plan.ts';
import { qosStatus } from './status.ts';

const names = ['a', 'b', 'c'] as const;
const foreignName = 'theirs';
type Fault = 'adopts' | 'forgets-applied' | 'writes-whole';

class World {
  readonly rows = new Map<string, SlurmQos>();
  readonly objects = new Map<string, Live<QualityOfService>>();
  /** The list that the operator read last. */
  #listed: Rows<SlurmQos> = { kind: 'unknown', why: 'not asked' };
  readonly #fault: Fault | undefined;

  constructor(fault?: Fault) {
    this.#fault = fault;
  }

  declare(name: string, spec: object): void {
    const before = this.objects.get(name);
    const object = aQualityOfService(spec, { name }) as unknown as Live<QualityOfService>;
    this.objects.set(name, { ...object, ...(before?.status && { status: before.status }) });
  }

  list(): void {
    this.#listed = { kind: 'known', at: 0, byName: new Map(this.rows) };
  }

  silence(): void {
    this.#listed = { kind: 'unknown', why: 'no answer' };
  }

  /** It ends after so many writes: status, Slurm, status. */
  reconcile(name: string, writes = 3): void {
    const qos = this.objects.get(name);
    if (qos === undefined) return;
    const observed = this.#observe(qos, this.#listed);
    const plan = planQos(observed, 0);
    const { write, desired, decision } = plan;
    let isRecorded = true;
    if (write?.type === 'WriteRow') {
      // As the actor does: a fresh list must lead to the same decision.
      const fresh = this.#observe(qos, { kind: 'known', at: 0, byName: new Map(this.rows) });
      const again = planQos(fresh, 0).write;
      isRecorded = this.#fault === 'adopts' || JSON.stringify(again) === JSON.stringify(write);
      if (isRecorded) {
        if (writes < 1) return;
        const applied = readApplied(qos.status?.applied);
        if (this.#fault !== 'forgets-applied')
          this.#store(name, {
            applied: writeApplied(appliedBefore({ desired, applied }, decision?.changes ?? [])),
          });
        if (writes < 2) return;
        const base = this.#fault === 'writes-whole' ? undefined : this.rows.get(name);
        this.rows.set(name, changedRow(name, base, write.changes));
        this.list();
      }
    }
    if (writes < 3) return;
    const notes = isRecorded ? [] : [{ isRecorded: false }];
    const { fields = {} } = qosStatus({ ...outcome(observed, plan, true), notes });
    this.#store(name, fields);
  }

  #observe(qos: Live<QualityOfService>, rows: Rows<SlurmQos>): ObservedQos {
    return {
      qos,
      isDeleted: false,
      hasFinalizer: false,
      accountingExists: true,
      controllers: ['slurm'],
      rows,
      conflict: undefined,
    };
  }

  #store(name: string, status: object): void {
    const object = this.objects.get(name);
    if (object !== undefined) this.objects.set(name, { ...object, status });
  }
}

const specOf = (random: Random): object => {
  const some = <T>(value: T): T | undefined => (random.next() < 0.5 ? value : undefined);
  const count = () => random.below(3);
  const tres = () =>
    Object.fromEntries(['cpu', 'mem'].filter(() => random.next() < 0.5).map((type) => [type, count()]));
  return JSON.parse(
    JSON.stringify({
      description: some('words'),
      priority: some(count()),
      flags: some(random.next() < 0.5 ? ['NoDecay'] : []),
      graceTime: some(`${count()}m`),
      limits: some({
        perUser: some({ jobs: some(count()), tres: some(tres()) }),
        group: some({ tresMinutes: some(tres()), wall: some(`${1 + count()}h`) }),
      }),
      drift: random.next() < 0.5 ? 'Correct' : 'Report',
      adopt: random.next() < 0.3,
    }),
  ) as object;
};

/** Throws where a law is broken. */
function history(seed: number, steps: number, fault?: Fault): void {
  const random = new Random(seed);
  const world = new World(fault);
  world.rows.set(foreignName, randomQos(foreignName, random, []));
  const theirs = JSON.stringify(world.rows.get(foreignName));
  /** Fields that an object has named, by row. */
  const named = new Map<string, Set<string>>(names.map((name) => [name, new Set<string>()]));
  const foreign = new Map<string, SlurmQos>();
  for (let step = 0; step < steps; step += 1) {
    const name = random.pick(names) ?? 'a';
    const choice = random.next();
    if (choice < 0.35) {
      world.declare(name, specOf(random));
      const object = world.objects.get(name);
      if (object !== undefined)
        for (const path of Object.keys(desiredFields(object))) named.get(name)?.add(path);
    } else if (choice < 0.5) {
      const row = randomQos(name, random, []);
      world.rows.set(name, row);
      foreign.set(name, row);
    } else if (choice < 0.6) world.list();
    else if (choice < 0.65) world.silence();
    else {
      const before = new Map(world.rows);
      const isAdopted =
        world.objects.get(name)?.status?.applied !== undefined || world.objects.get(name)?.spec.adopt;
      if (random.next() < 0.5) world.list();
      world.reconcile(name, random.below(4));
      for (const [other, row] of before)
        if (other !== name) assert.equal(world.rows.get(other), row, `${other} was touched for ${name}`);
      if (before.has(name) && isAdopted !== true)
        assert.equal(world.rows.get(name), before.get(name), `${name} was not adopted`);
    }
    for (const [row, wrote] of foreign) {
      const [now, then] = [world.rows.get(row), rowFields(wrote)];
      const fields = now === undefined ? {} : rowFields(now);
      for (const path of new Set([...Object.keys(fields), ...Object.keys(then)]))
        if (!named.get(row)?.has(path)) assert.deepEqual(fields[path], then[path], `${row} ${path}`);
    }
    assert.equal(JSON.stringify(world.rows.get(foreignName)), theirs);
  }
  for (const name of names) {
    const spec = world.objects.get(name)?.spec;
    if (spec === undefined) continue;
    world.declare(name, { ...spec, adopt: true, drift: 'Correct' });
    world.list();
    world.reconcile(name);
    const row = world.rows.get(name);
    const object = world.objects.get(name);
    assert.ok(row !== undefined && object !== undefined);
    const fields = rowFields(row);
    for (const [path, value] of Object.entries(desiredFields(object)))
      assert.deepEqual(fields[path], value, path);
    // Whatever was written before, and wherever a crash came between, nothing is left of it.
    if (!foreign.has(name)) assert.deepEqual(fields, { ...unsetFields, ...desiredFields(object) });
    const applied = object.status?.applied;
    world.list();
    world.reconcile(name);
    assert.equal(world.rows.get(name), row, 'at rest nothing is written');
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

for (const fault of ['adopts', 'forgets-applied', 'writes-whole'] as const)
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
