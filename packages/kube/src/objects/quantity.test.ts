import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes, milliCpu, quantity } from './quantity.ts';

const cases: readonly [text: string | number | undefined, number, reason: string][] = [
  ['8', 8, 'a plain number'],
  [2, 2, 'YAML may have made it a number already'],
  ['500m', 0.5, 'thousandths'],
  ['250000u', 0.25, 'millionths, as metrics write them'],
  ['1.5Gi', 1.5 * 2 ** 30, 'binary suffix'],
  ['.5', 0.5, 'no digit before the point'],
  ['2.', 2, 'no digit after the point'],
  ['3G', 3e9, 'decimal suffix'],
  ['2e3', 2000, 'an exponent'],
  ['1E', 1e18, 'E alone is a suffix, not an exponent'],
  ['5e-1', 0.5, 'a negative exponent'],
  ['-1', -1, 'a sign'],
  [undefined, 0, 'absent'],
  ['', 0, 'empty'],
  ['1.2.3', 0, 'nonsense'],
  ['4Zi', 0, 'a suffix that Kubernetes does not know'],
];

test('quantities', () => {
  for (const [text, number, reason] of cases) assert.equal(quantity(text), number, reason);
});

test('what is rounded is rounded up, and a whole number stays', () => {
  assert.equal(milliCpu('1500u'), 2);
  assert.equal(milliCpu('0.3'), 300);
  assert.equal(bytes('1500m'), 2);
  assert.equal(bytes('1Ki'), 1024);
});
