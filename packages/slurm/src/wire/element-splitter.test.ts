import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ElementSplitter } from './element-splitter.ts';
import { ListReading } from './list-memory.ts';

/** Feeds `text` in pieces of the given sizes. */
function split(text: string, key: string, sizes: readonly number[]): { elements: unknown[]; rest: string } {
  const elements: unknown[] = [];
  const splitter = new ElementSplitter(new ListReading(key, (element) => elements.push(element)));
  const bytes = Buffer.from(text);
  let at = 0;
  for (let turn = 0; at < bytes.length; turn += 1) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? 1);
    splitter.write(bytes.subarray(at, at + size));
    at += size;
  }
  return { elements, rest: splitter.end() };
}

test('elements and the rest equal the result of JSON.parse, for any chunks', () => {
  fc.assert(
    fc.property(
      fc.array(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 3 }))),
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })),
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      fc.boolean(),
      (list, before, after, sizes, pretty) => {
        // "nodes" may also occur as a key deeper down, or as a value, without being taken for the list.
        const document = {
          before: { ...before, nodes: [1] },
          value: 'nodes',
          nodes: list,
          after: { ...after, nodes: [] },
        };
        const text = JSON.stringify(document, undefined, pretty ? 2 : undefined);
        const { elements, rest } = split(text, 'nodes', sizes);
        assert.deepEqual(elements, JSON.parse(JSON.stringify(list)));
        assert.deepEqual(JSON.parse(rest), JSON.parse(JSON.stringify({ ...document, nodes: [] })));
      },
    ),
  );
});

test('a document without the list is kept whole', () => {
  const text = '{"errors":[{"error_number":1007}],"warnings":[]}';
  const { elements, rest } = split(text, 'nodes', [7]);
  assert.deepEqual(elements, []);
  assert.equal(rest, text);
});

test('a truncated document does not parse', () => {
  for (const cut of ['{"nodes":[{"a":1},{"b"', '{"nodes":[{"a":1}', '{"nodes":[{"a":1}],"er']) {
    const { rest } = split(cut, 'nodes', [5]);
    assert.throws(() => JSON.parse(rest), SyntaxError);
  }
});

test('an element that is not JSON is an error', () => {
  assert.throws(() => split('{"nodes":[{"a":tru}]}', 'nodes', [100]), SyntaxError);
});
