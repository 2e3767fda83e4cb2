import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LineSplitter } from './line-splitter.ts';

test('returns the same lines for any chunks', () => {
  const line = fc
    .uint8Array({ maxLength: 40 })
    .map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 10)));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), fc.array(fc.nat(30), { maxLength: 50 }), (lines, cuts) => {
      const bytes = Buffer.concat(lines.flatMap((text) => [text, Buffer.from('\n')]));
      const splitter = new LineSplitter();
      const found: string[] = [];
      let at = 0;
      for (const length of [...cuts, bytes.length]) {
        splitter.push(Buffer.from(bytes.subarray(at, at + length)), (piece) =>
          found.push(piece.toString('hex')),
        );
        at = Math.min(bytes.length, at + length);
      }
      // Empty lines are dropped.
      assert.deepEqual(
        found,
        lines.map((text) => text.toString('hex')).filter((text) => text !== ''),
      );
      assert.equal(splitter.unfinished, 0);
    }),
  );
});

test('reports a stream that ends within a line', () => {
  const splitter = new LineSplitter();
  splitter.push(Buffer.from('{"a":1}\n{"b"'), () => undefined);
  assert.equal(splitter.unfinished, 4);
});

test('throws on a line that exceeds the limit', () => {
  const splitter = new LineSplitter(100);
  assert.throws(() => {
    for (let i = 0; i < 20; i += 1) splitter.push(Buffer.from('x'.repeat(10)), () => undefined);
  }, RangeError);
});
