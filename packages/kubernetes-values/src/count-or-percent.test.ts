import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parsePercent, resolveCount } from './count-or-percent.ts';

test('a percentage is digits and a percent sign', () => {
  assert.deepEqual(['25%', '0%', '150%', '25', '%', '-1%', '1.5%', ' 1%'].map(parsePercent), [
    25,
    0,
    150,
    ...Array.from({ length: 5 }, () => undefined),
  ]);
});

test('a count stays, a percentage is of the total, anything else is no number', () => {
  assert.equal(resolveCount(3, 10, Math.ceil), 3);
  assert.equal(resolveCount('3', 10, Math.ceil), 3);
  assert.equal(resolveCount('25%', 10, Math.ceil), 3);
  assert.equal(resolveCount('25%', 10, Math.floor), 2);
  assert.ok(Number.isNaN(resolveCount('many', 10, Math.ceil)));
});

test('a percentage up to 100 never exceeds the total, and rounding up and down differ by at most one', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100 }), fc.nat({ max: 10_000 }), (percent, total) => {
      const up = resolveCount(`${percent}%`, total, Math.ceil);
      const down = resolveCount(`${percent}%`, total, Math.floor);
      assert.ok(down <= up && up <= total && up - down <= 1);
    }),
  );
});
