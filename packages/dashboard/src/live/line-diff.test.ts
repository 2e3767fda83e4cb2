import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { diffLines } from './line-diff.ts';

const shown = (before: string, after: string, around?: number) =>
  diffLines(before, after, around).map(
    ({ kind, text }) => `${{ same: ' ', removed: '-', added: '+' }[kind]}${text}`,
  );

test('changed lines with what stands beside them', () => {
  assert.deepEqual(shown('a\nb\nc\nd\ne\nf\n', 'a\nb\nc\nX\ne\nf\n', 1), [' c', '-d', '+X', ' e']);
  assert.deepEqual(shown('a\nb\n', 'a\nb\n'), []);
  assert.deepEqual(shown('', 'a\n'), ['+a']);
  assert.deepEqual(shown('a\n', ''), ['-a']);
});

test('both texts can be read from the whole difference', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const all = diffLines(before.join('\n'), after.join('\n'), 99);
      if (before.join() === after.join()) return assert.deepEqual(all, []);
      const without = (kind: string) => all.filter((one) => one.kind !== kind).map((one) => one.text);
      assert.deepEqual(without('added'), before);
      assert.deepEqual(without('removed'), after);
    }),
  );
});

test('texts of a hundred thousand lines take no time', () => {
  const long = Array.from({ length: 100_000 }, (_, at) => `line ${at}`);
  assert.deepEqual(shown(long.join('\n'), [...long, 'new'].join('\n')), ['+new']);
});
