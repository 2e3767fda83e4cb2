import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FieldSet, type Path, showPath } from './field-set.ts';

const element = fc.constantFrom('f:a', 'f:b', 'k:{"name":"x"}', 'v:"y"', 'i:0');
const path: fc.Arbitrary<Path> = fc.array(element, { minLength: 1, maxLength: 3 });
const paths = fc.array(path, { maxLength: 8 });

function texts(set: FieldSet): Set<string> {
  return new Set([...set.paths()].map((each) => each.join(' ')));
}

test('sets of paths behave as sets', () => {
  fc.assert(
    fc.property(paths, paths, (left, right) => {
      const [a, b] = [FieldSet.of(...left), FieldSet.of(...right)];
      assert.deepEqual(texts(a.union(b)), texts(a).union(texts(b)));
      assert.deepEqual(texts(a.difference(b)), texts(a).difference(texts(b)));
      assert.deepEqual(texts(a.intersection(b)), texts(a).intersection(texts(b)));
      assert.equal(a.equals(b), texts(a).symmetricDifference(texts(b)).size === 0);
      assert.equal(a.empty, left.length === 0);
      for (const each of left) assert.ok(a.has(each));
    }),
  );
});

test('a set survives being written and read', () => {
  fc.assert(
    fc.property(paths, (each) => {
      const set = FieldSet.of(...each);
      assert.ok(FieldSet.fromFieldsV1(set.toFieldsV1()).equals(set));
    }),
  );
});

test('below a removed member nothing is left, with withoutSubtrees', () => {
  const set = FieldSet.of(['f:spec'], ['f:spec', 'f:size'], ['f:status', 'f:phase']);
  assert.deepEqual(set.withoutSubtrees(FieldSet.of(['f:spec'])).toFieldsV1(), {
    'f:status': { 'f:phase': {} },
  });
});

test('keys of an item are one name however they are written', () => {
  const set = FieldSet.fromFieldsV1({ 'f:ports': { 'k:{"protocol":"TCP", "port":80}': {} } });
  assert.ok(set.has(['f:ports', 'k:{"port":80,"protocol":"TCP"}']));
});

test('paths are shown as clients know them', () => {
  assert.equal(
    showPath(['f:spec', 'f:items', 'k:{"name":"a","port":1}', 'f:value']),
    '.spec.items[name="a",port=1].value',
  );
  assert.equal(showPath(['k:garbage']), '[garbage]');
  assert.equal(showPath(['f:tags', 'v:"x"', 'i:2']), '.tags[="x"][2]');
});
