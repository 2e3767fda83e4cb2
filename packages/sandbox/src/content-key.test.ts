import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { contentKey } from './publish-directory.ts';

test('the order of keys does not matter, any value does', () => {
  const record = fc.dictionary(fc.string(), fc.oneof(fc.integer(), fc.string()));
  fc.assert(
    fc.property(record, record, (a, b) => {
      const reversed = Object.fromEntries(Object.entries(a).toReversed());
      assert.equal(contentKey({ a, b }), contentKey({ b, a: reversed }));
      const same = isDeepStrictEqual({ ...a }, { ...b });
      assert.equal(contentKey(a) === contentKey(b), same);
    }),
  );
});
