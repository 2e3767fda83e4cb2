import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type NamedSet, setsWithPrecedence } from './name-conflict.ts';

const set = (name: string, over: Partial<NamedSet> = {}): NamedSet => ({
  name,
  controller: 'slurm',
  prefix: 'gpu-',
  createdAt: '2026-01-01T00:00:00Z',
  usesNames: false,
  ...over,
});
const before = (me: NamedSet, ...others: NamedSet[]) =>
  setsWithPrecedence(me, others).map(({ name }) => name);

test('the older of two sets with the same names takes precedence', () => {
  const [old, young] = [set('b'), set('a', { createdAt: '2026-01-02T00:00:00Z' })];
  assert.deepEqual(before(young, old), ['b']);
  assert.deepEqual(before(old, young), []);
});

test('a set that already uses the names keeps them, also from an older set that is renamed', () => {
  const [renamed, running] = [
    set('old'),
    set('young', { createdAt: '2027-01-01T00:00:00Z', usesNames: true }),
  ];
  assert.deepEqual(before(renamed, running), ['young']);
  assert.deepEqual(before(running, renamed), []);
});

test('other names, another Controller, and workers called after their node are no conflict', () => {
  assert.deepEqual(before(set('a'), set('b', { prefix: 'cpu-' }), set('c', { controller: 'theirs' })), []);
  assert.deepEqual(before(set('z', { prefix: '' }), set('b', { prefix: '' })), []);
});

test('of any sets with the same names exactly one gives way to none', () => {
  const arbitrary = fc.uniqueArray(
    fc.record({
      name: fc.string({ minLength: 1, maxLength: 3 }),
      createdAt: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'),
      usesNames: fc.boolean(),
    }),
    { selector: ({ name }) => name, minLength: 1, maxLength: 5 },
  );
  fc.assert(
    fc.property(arbitrary, (drawn) => {
      const sets = drawn.map(({ name, ...over }) => set(name, over));
      assert.equal(sets.filter((me) => before(me, ...sets).length === 0).length, 1);
    }),
  );
});
