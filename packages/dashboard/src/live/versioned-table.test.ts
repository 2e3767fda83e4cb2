import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { applied, VersionedTable } from './versioned-table.ts';

interface Row {
  readonly key: string;
  readonly value: number;
}

const change = fc.record({
  set: fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), value: fc.nat(3) }), { maxLength: 3 }),
  removed: fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 2 }),
});

test('a reader that applies deltas, or what changed since its version, has the rows of the table', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), fc.nat(39), fc.nat(12), (changes, joinAt, history) => {
      const table = new VersionedTable<Row>(100, { history });
      let stream: { version: number; rows: ReadonlyMap<string, Row> } = { version: 100, rows: new Map() };
      let late = stream;
      changes.forEach(({ set, removed }, at) => {
        const delta = table.apply(set, removed);
        if (delta !== undefined) stream = applied(stream, delta) ?? assert.fail('the stream has a gap');
        if (at === joinAt) late = { version: table.version, rows: new Map(table.rows) };
      });
      const sorted = (rows: ReadonlyMap<string, Row>) => [...rows].toSorted(([a], [b]) => a.localeCompare(b));
      assert.deepEqual(sorted(stream.rows), sorted(table.rows));
      const rest = table.since(late.version);
      const caughtUp = rest === undefined ? undefined : applied(late, rest);
      // Too long ago: the reader is told to read everything again.
      if (caughtUp === undefined) assert.ok(table.version > late.version);
      else assert.deepEqual(sorted(caughtUp.rows), sorted(table.rows));
    }),
  );
});

test('an unchanged row is no change, a removed row that never was neither', () => {
  const table = new VersionedTable<Row>(1);
  assert.equal(table.apply([{ key: 'a', value: 1 }], [])?.to, 2);
  assert.equal(table.apply([{ key: 'a', value: 1 }], ['b']), undefined);
  assert.equal(table.version, 2);
});

test('a delta that does not continue from the version of the page is refused, an old one is ignored', () => {
  const page = { version: 5, rows: new Map<string, Row>() };
  assert.equal(applied(page, { from: 6, to: 7, set: [], removed: [] }), undefined);
  assert.equal(applied(page, { from: 3, to: 4, set: [{ key: 'a', value: 1 }], removed: [] }), page);
});
