import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ElementSplitter } from './element-splitter.ts';
import { ListMemory, ListReading } from './list-memory.ts';

interface Thing {
  readonly name: string;
  readonly value: unknown;
}

/** Reads lists one after the other with one memory, and counts the parsed elements. */
function setUp() {
  const memory = new ListMemory<Thing>((thing) => thing.name);
  let reads = 0;
  const read = (raw: unknown) => {
    reads += 1;
    return raw as Thing;
  };
  return {
    read,
    list(things: readonly Thing[], chunk = 1000, reader = read, indent = 2) {
      reads = 0;
      const reading = new ListReading('things', reader, memory);
      const splitter = new ElementSplitter(reading);
      const bytes = Buffer.from(JSON.stringify({ things, last: 1 }, undefined, indent));
      for (let at = 0; at < bytes.length; at += chunk) splitter.write(bytes.subarray(at, at + chunk));
      assert.deepEqual(JSON.parse(splitter.end()), { things: [], last: 1 });
      bytes.fill(0); // what arrived is not ours, and must not be needed when the next list comes
      return { reading, reads: () => reads };
    },
  };
}

const thing = (name: string, value: unknown = 0): Thing => ({ name, value });

test('parses only changed elements and returns the same objects for the others', () => {
  const { list } = setUp();
  const names = ['a', 'b', 'c', 'd', 'e'];
  const first = list(names.map((name) => thing(name)));
  const before = first.reading.finish();
  assert.equal(first.reads(), 5);
  const second = list(names.map((name) => thing(name, name === 'c' ? 1 : 0)));
  const after = second.reading.finish();
  assert.equal(second.reads(), 1);
  assert.deepEqual(after[2], thing('c', 1));
  for (const place of [0, 1, 3, 4]) assert.equal(after[place], before[place]);
});

test('finds elements at their new places after others were added or removed', () => {
  const { list } = setUp();
  list(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => thing(name))).reading.finish();
  const later = list(['b', 'c', 'x', 'd', 'f'].map((name) => thing(name)));
  assert.deepEqual(
    later.reading.finish().map(({ name }) => name),
    ['b', 'c', 'x', 'd', 'f'],
  );
  assert.equal(later.reads(), 3, 'the first after each that is gone, and the new one');
});

test('a list that was not finished is not remembered', () => {
  const { list } = setUp();
  list([thing('a', 1)]).reading.finish();
  list([thing('a', 2)]);
  const again = list([thing('a', 1)]);
  assert.deepEqual(again.reading.finish(), [thing('a', 1)]);
  assert.equal(again.reads(), 0);
});

test('another reader parses everything: the same bytes may have another meaning', () => {
  const { list } = setUp();
  list([thing('a')]).reading.finish();
  const { reading } = list([thing('a')], 1000, () => thing('a', 'read otherwise'));
  assert.deepEqual(reading.finish(), [thing('a', 'read otherwise')]);
});

test('property: lists with and without a memory are equal, for any changes and chunks', () => {
  const things = fc
    .uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'), { maxLength: 7 })
    .chain((names) =>
      fc.tuple(...names.map((name) => fc.jsonValue({ maxDepth: 2 }).map((value) => thing(name, value)))),
    );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(things, fc.integer({ min: 1, max: 200 })), { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      fc.constantFrom(0, 2),
      (lists, twice, indent) => {
        const { list, read } = setUp();
        for (const [wanted, chunk] of lists) {
          const expected: unknown = JSON.parse(JSON.stringify(wanted));
          assert.deepEqual(list(wanted, chunk, read, indent).reading.finish(), expected);
          if (!twice) continue;
          const again = list(wanted, chunk + 7, read, indent);
          assert.deepEqual(again.reading.finish(), expected);
          assert.equal(again.reads(), 0);
        }
      },
    ),
  );
});
