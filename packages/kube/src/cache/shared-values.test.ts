import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SharedValues } from './shared-values.ts';

/** JSON has no negative zero. */
const plain = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);

test('a shared value equals the original, also after values were dropped', () => {
  fc.assert(
    fc.property(fc.array(plain), fc.integer({ min: 1, max: 8 }), (values, few) => {
      const shared = new SharedValues(few);
      for (const value of [...values, ...values])
        assert.deepEqual(shared.share(structuredClone(value)), value);
    }),
  );
});

test('interns equal values, and equal parts of different values', () => {
  const shared = new SharedValues();
  const ready = { type: 'Ready', since: 'noon' };
  const first = shared.share([ready, { type: 'Placed', since: 'noon' }]);
  assert.equal(shared.share([{ ...ready }, { type: 'Placed', since: 'noon' }]), first);
  const second = shared.share([{ ...ready }, { type: 'Placed', since: 'midnight' }]);
  assert.notEqual(second, first);
  assert.equal(second[0], first[0]);
});

test('two values with the same hash stay different', () => {
  const [a, b] = [[562214], [1006540]];
  const number = (value: unknown) =>
    Buffer.from(JSON.stringify(value)).reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5);
  assert.equal(number(a), number(b));
  const shared = new SharedValues();
  shared.share(a);
  assert.deepEqual(shared.share(b), b);
  assert.deepEqual(shared.share(a), a);
});
