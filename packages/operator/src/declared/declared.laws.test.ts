/** Laws of declared rows: random histories of edits, drift and crashes, against a row in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Applied, appliedAfter, appliedBefore, decide, sameApplied } from './decide.ts';
import { type Fields, withChanges } from './fields.ts';
import { readApplied, writeApplied } from './stored.ts';

const defaults: Fields = { priority: 0 };
const paths = ['priority', 'jobs', 'tres.cpu', 'qos'] as const;
const value = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant(['a']), fc.constant(['a', 'b']));
const spec = fc
  .dictionary(fc.constantFrom(...paths), value)
  .map((fields): Fields => ({ ...fields, name: 'row' }));
type Step =
  | { readonly type: 'Edit'; readonly spec: Fields }
  /** The reconcile ends after this many writes: status, Slurm, status. */
  | { readonly type: 'Reconcile'; readonly crashAfter: number }
  | { readonly type: 'Foreign'; readonly path: string; readonly to: unknown };
const step: fc.Arbitrary<Step> = fc.oneof(
  spec.map((fields): Step => ({ type: 'Edit', spec: fields })),
  fc.integer({ min: 0, max: 3 }).map((crashAfter): Step => ({ type: 'Reconcile', crashAfter })),
  fc
    .record({ path: fc.constantFrom(...paths), to: fc.option(value, { nil: undefined }) })
    .map((change): Step => ({ type: 'Foreign', ...change })),
);

class World {
  row: Fields | undefined;
  applied: Applied | undefined;
  readonly drift: 'Correct' | 'Report';
  readonly adopt: boolean;

  constructor(row: Fields | undefined, drift: 'Correct' | 'Report', adopt: boolean) {
    this.row = row;
    this.drift = drift;
    this.adopt = adopt;
  }

  decide(desired: Fields) {
    const { applied, row: current, drift, adopt } = this;
    return decide({ desired, applied, current, defaults, drift, adopt });
  }

  reconcile(desired: Fields, crashAfter = 3): void {
    const declared = { desired, applied: this.applied };
    const { kind, changes } = this.decide(desired);
    if (kind === 'NotAdopted' || kind === 'Missing') return;
    let writes = 0;
    const store = (next: Applied) => {
      if (sameApplied(this.applied, next)) return true;
      if (writes++ >= crashAfter) return false;
      this.applied = readApplied(writeApplied(next));
      return true;
    };
    if (changes.length > 0) {
      if (!store(appliedBefore(declared, changes))) return;
      if (writes++ >= crashAfter) return;
      this.row = withChanges(this.row ?? {}, changes);
    }
    store(appliedAfter(declared));
  }
}

const equal = (one: Fields | undefined, other: Fields | undefined) =>
  assert.deepEqual({ ...defaults, ...one }, { ...defaults, ...other });

test('after any history of edits and crashes the row is that of a fresh apply', () => {
  const edits = step.filter(({ type }) => type !== 'Foreign');
  const check = (steps: Step[], drift: 'Correct' | 'Report', last: Fields) => {
    const world = new World(undefined, drift, false);
    let desired = last;
    for (const each of [...steps, { type: 'Edit', spec: last } as const])
      if (each.type === 'Edit') desired = each.spec;
      else if (each.type === 'Reconcile') world.reconcile(desired, each.crashAfter);
    world.reconcile(desired);
    const fresh = new World(undefined, drift, false);
    fresh.reconcile(desired);
    equal(world.row, fresh.row);
    const { changes } = world.decide(desired);
    assert.deepEqual(changes, [], 'at rest nothing is written');
  };
  fc.assert(
    fc.property(fc.array(edits, { maxLength: 12 }), fc.constantFrom('Correct', 'Report'), spec, check),
    { numRuns: 500 },
  );
});

test('fields that no specification ever named keep the value that others gave them', () => {
  const check = (steps: Step[], drift: 'Correct' | 'Report', before: Fields | undefined, adopt: boolean) => {
    const world = new World(before, drift, adopt);
    let desired: Fields = { name: 'row' };
    const foreign: Record<string, unknown> = { ...before };
    const named = new Set<string>(['name']);
    for (const each of steps) {
      if (each.type === 'Edit') desired = each.spec;
      else if (each.type === 'Foreign' && world.row !== undefined) {
        const change = { path: each.path, from: undefined, to: each.to as undefined };
        world.row = withChanges(world.row, [change]);
        foreign[each.path] = each.to;
      } else if (each.type === 'Reconcile') {
        for (const path of Object.keys(desired)) named.add(path);
        world.reconcile(desired, each.crashAfter);
      }
    }
    for (const path of paths)
      if (!named.has(path)) assert.deepEqual(world.row?.[path], world.row && foreign[path], path);
  };
  const row = fc.option(spec, { nil: undefined });
  const steps = fc.array(step, { maxLength: 12 });
  fc.assert(fc.property(steps, fc.constantFrom('Correct', 'Report'), row, fc.boolean(), check), {
    numRuns: 500,
  });
});

test('a row that is not adopted is never written, and the plan says what would be', () => {
  fc.assert(
    fc.property(spec, spec, (desired, current) => {
      const world = new World(current, 'Correct', false);
      world.reconcile(desired);
      assert.equal(world.row, current);
      assert.equal(world.applied, undefined);
      const { changes } = decide({
        desired,
        applied: undefined,
        current,
        defaults,
        drift: 'Correct',
        adopt: false,
      });
      equal(withChanges(current, changes), { ...current, ...desired });
    }),
  );
});

test('Correct restores what someone else changed; Report leaves it and names it', () => {
  const desired = { name: 'row', jobs: 5, priority: 7 };
  for (const drift of ['Correct', 'Report'] as const) {
    const world = new World(undefined, drift, false);
    world.reconcile(desired);
    world.row = { name: 'row', priority: 9 };
    world.reconcile(desired);
    const decision = world.decide(desired);
    if (drift === 'Correct') equal(world.row, desired);
    else {
      equal(world.row, { name: 'row', priority: 9 });
      assert.deepEqual(
        decision.drift.map(({ path }) => path),
        ['jobs', 'priority'],
      );
      // An edit is not drift.
      world.reconcile({ ...desired, priority: 8 });
      equal(world.row, { name: 'row', priority: 8 });
    }
  }
});

test('a row that someone else deleted is created again, or only reported', () => {
  const desired = { name: 'row', jobs: 5 };
  for (const drift of ['Correct', 'Report'] as const) {
    const world = new World(undefined, drift, false);
    world.reconcile(desired);
    world.row = undefined;
    const { kind } = world.decide(desired);
    assert.equal(kind, drift === 'Correct' ? 'Create' : 'Missing');
  }
});
