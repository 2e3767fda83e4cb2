/** The three kinds of patches: their rules as tables, their laws as properties. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { clone } from '../api/json.ts';
import type { Schema } from '../schema/schema.ts';
import { applyJsonPatch, mergePatch } from './json-patch.ts';
import { strategicMerge } from './strategic-merge.ts';

const plain = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);

test('a merge patch follows the examples of its RFC', () => {
  const table: readonly [target: unknown, patch: unknown, result: unknown][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [target, patch, result] of table) assert.deepEqual(mergePatch(target, patch), result);
});

test('a merge patch changes neither of its arguments, and twice is as good as once', () => {
  fc.assert(
    fc.property(plain, plain, (target, patch) => {
      const before = JSON.stringify([target, patch]);
      const once = mergePatch(target, patch);
      assert.deepEqual(mergePatch(once, patch), once);
      assert.equal(JSON.stringify([target, patch]), before);
    }),
  );
});

test('a JSON patch adds, replaces, removes, moves, copies and tests', () => {
  const patch = (document: unknown, ...operations: unknown[]) => applyJsonPatch(clone(document), operations);
  assert.deepEqual(patch({ l: [1, 3] }, { op: 'add', path: '/l/1', value: 2 }), { l: [1, 2, 3] });
  assert.deepEqual(patch({ l: [1] }, { op: 'add', path: '/l/-', value: 2 }), { l: [1, 2] });
  assert.deepEqual(patch({ l: [1, 2] }, { op: 'replace', path: '/l/0', value: 9 }), { l: [9, 2] });
  assert.deepEqual(patch({}, { op: 'replace', path: '/new', value: 1 }), { new: 1 }, 'as the real server');
  assert.deepEqual(patch({ a: 1 }, { op: 'move', from: '/a', path: '/b' }), { b: 1 });
  assert.deepEqual(patch({ a: [1] }, { op: 'copy', from: '/a', path: '/b' }), { a: [1], b: [1] });
  assert.deepEqual(patch({ 'a/b~c': 1 }, { op: 'remove', path: '/a~1b~0c' }), {});
  for (const refused of [
    { op: 'test', path: '/a', value: 2 },
    { op: 'remove', path: '/zz' },
    { op: 'add', path: '/no/x', value: 1 },
    { op: 'add', path: '/l/9', value: 1 },
    { op: 'bogus', path: '/a' },
  ])
    assert.throws(() => patch({ a: 1, l: [] }, refused), /rejected our request/);
});

const containers: Schema = {
  type: 'object',
  properties: {
    list: {
      type: 'array',
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-patch-merge-key': 'name',
      items: { type: 'object', properties: { name: { type: 'string' }, value: { type: 'string' } } },
    },
    words: { type: 'array', 'x-kubernetes-patch-strategy': 'merge', items: { type: 'string' } },
    whole: { type: 'array', items: { type: 'string' } },
  },
};
const item = (name: string, value?: string) => (value === undefined ? { name } : { name, value });

const merges: readonly [what: string, target: unknown, patch: unknown, result: unknown][] = [
  [
    'items merge by their key, new ones follow',
    { list: [item('a', '1'), item('b', '2')] },
    { list: [item('b', '9'), item('c', '3')] },
    { list: [item('a', '1'), item('b', '9'), item('c', '3')] },
  ],
  [
    'an item that is only new comes first',
    { list: [item('a')] },
    { list: [item('b')] },
    { list: [item('b'), item('a')] },
  ],
  [
    '$patch delete',
    { list: [item('a'), item('b')] },
    { list: [{ name: 'a', $patch: 'delete' }] },
    { list: [item('b')] },
  ],
  [
    '$patch replace of a list',
    { list: [item('a')] },
    { list: [{ $patch: 'replace' }, item('z')] },
    { list: [item('z')] },
  ],
  [
    '$setElementOrder',
    { list: [item('a', '1'), item('b', '2'), item('c', '3')] },
    { '$setElementOrder/list': [{ name: 'c' }, { name: 'a' }], list: [{ name: 'b', $patch: 'delete' }] },
    { list: [item('c', '3'), item('a', '1')] },
  ],
  ['words are a set', { words: ['a'] }, { words: ['b', 'a'] }, { words: ['b', 'a'] }],
  [
    '$deleteFromPrimitiveList',
    { words: ['a', 'b'] },
    { '$deleteFromPrimitiveList/words': ['a'] },
    { words: ['b'] },
  ],
  ['a list without a key is replaced', { whole: ['a'] }, { whole: ['b'] }, { whole: ['b'] }],
  ['null removes', { whole: ['a'] }, { whole: null }, {}],
  ['$retainKeys', { x: { a: 1, b: 2 } }, { x: { $retainKeys: ['b'], b: 3 } }, { x: { b: 3 } }],
  ['$patch replace of a map', { x: { a: 1 } }, { x: { $patch: 'replace', b: 2 } }, { x: { b: 2 } }],
];
for (const [what, target, patch, result] of merges)
  test(`strategic merge: ${what}`, () => {
    const before = JSON.stringify([target, patch]);
    assert.deepEqual(strategicMerge(target, patch, containers), result);
    assert.equal(JSON.stringify([target, patch]), before, 'neither argument is changed');
  });

test('an item without the merge key is refused by name', () => {
  assert.throws(
    () => strategicMerge({ list: [] }, { list: [{ value: 'x' }] }, containers),
    /does not contain declared merge key: name/,
  );
});
