import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { inParallel, slowStart } from './in-parallel.ts';

test('every item is worked on once, never more than the limit at a time, whatever fails', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.boolean(), { maxLength: 40 }),
      fc.integer({ min: 1, max: 8 }),
      async (fails, limit) => {
        let active = 0;
        let most = 0;
        const seen: number[] = [];
        const failures = await inParallel([...fails.keys()], limit, async (index) => {
          most = Math.max(most, (active += 1));
          await Promise.resolve();
          seen.push(index);
          active -= 1;
          if (fails[index]) throw new Error(String(index));
        });
        assert.deepEqual(
          seen.toSorted((a, b) => a - b),
          [...fails.keys()],
        );
        assert.ok(most <= limit);
        assert.equal(failures.length, fails.filter(Boolean).length);
      },
    ),
  );
});

test('a slow start doubles while batches succeed and stops after the batch that failed', async () => {
  const tried: number[] = [];
  const failures = await slowStart([...Array(100).keys()], 16, async (index) => {
    tried.push(index);
    if (index === 5) throw new Error('quota');
  });
  assert.equal(failures.length, 1);
  assert.equal(tried.length, 7, 'batches of 1, 2 and 4');
});
