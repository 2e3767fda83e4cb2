import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { durationFault, durationMilliseconds, formatDuration, parseDuration } from './duration.ts';

test('durations are those of Go', () => {
  const texts: readonly [text: string, nanos: bigint][] = [
    ['5s', 5_000_000_000n],
    ['1m30s', 90_000_000_000n],
    ['-5s', -5_000_000_000n],
    ['+1ms', 1_000_000n],
    ['0', 0n],
    ['1.5h', 5_400_000_000_000n],
    ['.5s', 500_000_000n],
    ['1.s', 1_000_000_000n],
    ['2µs', 2_000n],
    ['2μs', 2_000n],
  ];
  for (const [text, nanos] of texts) assert.equal(parseDuration(text), nanos, text);
  assert.equal(durationMilliseconds('1m0.5s'), 60_500);
  assert.equal(durationMilliseconds('abc'), undefined);
});

test('what is no duration is explained in the words of Go', () => {
  assert.equal(durationFault('abc'), 'time: invalid duration "abc"');
  assert.equal(durationFault(''), 'time: invalid duration ""');
  assert.equal(durationFault('30'), 'time: missing unit in duration "30"');
  assert.equal(durationFault('5x'), 'time: unknown unit "x" in duration "5x"');
  assert.equal(durationFault('3000000h'), 'time: invalid duration "3000000h"');
  assert.equal(durationFault('5s'), undefined);
});

test('whole seconds are printed as Go prints them', () => {
  const shown = [0, 10, 80, 300, 3600, 3661, -80].map(formatDuration);
  assert.deepEqual(shown, ['0s', '10s', '1m20s', '5m0s', '1h0m0s', '1h1m1s', '-1m20s']);
});

test('what is printed is read back as the same duration', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }), (seconds) => {
      assert.equal(parseDuration(formatDuration(seconds)), BigInt(seconds) * 1_000_000_000n);
    }),
  );
});

test('a text is either a duration or has a fault, and the parts of a duration add up', () => {
  const part = fc.tuple(
    fc.nat({ max: 1000 }),
    fc.constantFrom('ns', 'us', 'ms', 's', 'm', 'h').map((unit) => unit),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(part).map((parts) => parts.flat().join('')),
      ),
      (text) => {
        assert.equal(parseDuration(text) === undefined, durationFault(text) !== undefined);
      },
    ),
  );
  fc.assert(
    fc.property(part, part, (a, b) => {
      const sum = (parseDuration(a.join('')) ?? 0n) + (parseDuration(b.join('')) ?? 0n);
      assert.equal(parseDuration([...a, ...b].join('')), sum);
    }),
  );
});
