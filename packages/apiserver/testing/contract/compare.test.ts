/** The comparison of the suite itself: it must find what differs, and bind what is masked. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstDifference } from './compare.ts';
import { Masks } from './masks.ts';

const uid = '11111111-2222-3333-4444-555555555555';
const other = '99999999-2222-3333-4444-555555555555';

test('masks are bound at first sight and hold from then on', () => {
  const masks = new Masks();
  assert.equal(firstDifference({ a: '<uid-1>', b: '<uid-1>' }, { a: uid, b: uid }, masks), undefined);
  assert.match(firstDifference({ a: '<uid-1>' }, { a: other }, masks) ?? '', /\$\.a is/);
  assert.equal(masks.fill('x <uid-1>'), `x ${uid}`);
});

test('masks inside texts and keys are found', () => {
  const masks = new Masks();
  assert.equal(firstDifference('too old: 1 (<rv-1>)', 'too old: 1 (77)', masks), undefined);
  assert.equal(
    firstDifference({ 'k:{"uid":"<uid-1>"}': {} }, { [`k:{"uid":"${uid}"}`]: {} }, masks),
    undefined,
  );
});

const differences: readonly [recorded: unknown, actual: unknown, text: RegExp][] = [
  [{ a: 1 }, { a: 2 }, /\$\.a is 2, recorded was 1/],
  [{ a: 1 }, {}, /\$\.a is missing/],
  [{}, { a: 1 }, /\$\.a = 1 was not in the recording/],
  [[1], [1, 2], /2 entries, recorded were 1/],
  [[1, 2], [1], /1 entries, recorded were 2/],
  [{ a: null }, { a: {} }, /\$\.a is \{\}/],
  [{ a: '<time>' }, { a: 'soon' }, /\$\.a is "soon"/],
  [{ a: '5' }, { a: 5 }, /\$\.a is 5/],
];
for (const [recorded, actual, text] of differences)
  test(`${JSON.stringify(recorded)} and ${JSON.stringify(actual)} differ`, () =>
    assert.match(firstDifference(recorded, actual, new Masks()) ?? '', text));

test('a write that should have happened shows as a resourceVersion that stayed', () => {
  const masks = new Masks();
  const at = (mask: string) => ({ metadata: { uid: '<uid-1>', resourceVersion: mask } });
  const actual = { metadata: { uid, resourceVersion: '5' } };
  assert.equal(firstDifference(at('<rv-1>'), actual, masks), undefined);
  assert.match(firstDifference(at('<rv-2>'), actual, masks) ?? '', /resourceVersion is 5 as at <rv-1>/);
});

test('entries with generated names are compared in any order, and a changed one is found', () => {
  const recorded = [
    { metadata: { name: 'a-<rand-1>' }, image: 'one' },
    { metadata: { name: 'a-<rand-2>' }, image: 'two' },
  ];
  const actual = [
    { metadata: { name: 'a-bbbbb' }, image: 'two' },
    { metadata: { name: 'a-ccccc' }, image: 'one' },
  ];
  const masks = new Masks();
  assert.equal(firstDifference(recorded, actual, masks), undefined);
  assert.equal(masks.value('<rand-1>'), 'ccccc');
  const changed = [actual[0], { ...actual[1], image: 'three' }];
  assert.match(firstDifference(recorded, changed, new Masks()) ?? '', /image is "three"/);
  assert.match(firstDifference(recorded, actual.slice(1), new Masks()) ?? '', /has 1 entries/);
  assert.match(firstDifference(recorded, [...actual, actual[0]], new Masks()) ?? '', /has 3 entries/);
});

test('hashes of a template have any length up to ten characters', () => {
  const masks = new Masks();
  assert.equal(firstDifference('web-<hash-1>', 'web-5', masks), undefined);
  assert.equal(firstDifference('web-<hash-2>', 'web-64f5977cbf', masks), undefined);
});
