import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { covers, withoutUnset } from './covers.ts';

test('a live object covers an intent if it has all of its fields', () => {
  const live = { spec: { replicas: 2, paused: false, list: [{ name: 'a', port: 1 }] }, status: {} };
  assert.ok(covers(live, { spec: { replicas: 2 } }));
  assert.ok(covers(live, { spec: { list: [{ name: 'a' }] } }));
  assert.ok(!covers(live, { spec: { replicas: 3 } }));
  assert.ok(!covers(live, { spec: { list: [] } }), 'whose the extra element is cannot be told');
  assert.ok(!covers(live, { spec: { list: [{ name: 'a' }, { name: 'b' }] } }));
  assert.ok(!covers(live, { spec: { gone: {} } }));
  assert.ok(!covers({ a: [1] }, { a: { 0: 1 } }));
});

test('every value covers itself, also after fields were added', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.string(),
      fc.jsonValue(),
      (intent, name, more) => {
        assert.ok(covers(structuredClone(intent), intent));
        if (!(name in intent)) assert.ok(covers({ ...intent, [name]: more }, intent));
      },
    ),
  );
});

test('null and undefined fields of an intent are not applied', () => {
  const intent = { a: undefined, b: null, c: { d: undefined, e: 0, f: '' }, g: [{ h: null }], i: {} };
  assert.deepEqual(withoutUnset(intent), { c: { e: 0, f: '' }, g: [{}], i: {} });
});
