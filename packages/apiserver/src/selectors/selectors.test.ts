import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFieldSelector } from './field-selector.ts';
import { labelsMatch, parseLabelSelector } from './label-selector.ts';

const labels = { app: 'web', tier: 'front', n: '7' };
const selections: readonly [text: string, matches: boolean][] = [
  ['', true],
  ['app=web', true],
  ['app==web,tier=front', true],
  ['app!=web', false],
  ['missing!=x', true],
  ['app in (web, db)', true],
  ['app notin (web)', false],
  ['missing notin (web)', true],
  ['app', true],
  ['!app', false],
  ['!missing', true],
  ['n>6', true],
  ['n<7', false],
  ['app>1', false],
  ['app in ()', false],
  ['missing=', false],
];
for (const [text, matches] of selections)
  test(`${JSON.stringify(text)} ${matches ? 'selects' : 'does not select'} ${JSON.stringify(labels)}`, () =>
    assert.equal(labelsMatch(parseLabelSelector(text), labels), matches));

const refusals: readonly [text: string, message: string][] = [
  ['a b=c', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ['a in', "unable to parse requirement: found '' expected: '('"],
  ['a=b c', "found 'c', expected: ',' or 'end of string'"],
  ['a,,b', "found ',', expected: identifier after ','"],
  ['=a', "found '=', expected: !, identifier, or 'end of string'"],
];
for (const [text, message] of refusals)
  test(`${JSON.stringify(text)} is refused: ${message}`, () =>
    assert.throws(() => parseLabelSelector(text), { message }));

test('field selectors know equality, inequality and escapes', () => {
  assert.deepEqual(parseFieldSelector('metadata.name=a,status.phase!=Running,x==a\\,b'), [
    { field: 'metadata.name', equal: true, value: 'a' },
    { field: 'status.phase', equal: false, value: 'Running' },
    { field: 'x', equal: true, value: 'a,b' },
  ]);
  assert.throws(() => parseFieldSelector('nonsense'), /can't understand 'nonsense'/);
});
