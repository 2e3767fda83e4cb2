import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type SelectorRule, selectorMatches, selectorText } from './label-selector.ts';
import { parseFieldSelector } from './parse-field-selector.ts';
import { parseLabelSelector, SelectorError } from './parse-label-selector.ts';

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
    assert.equal(selectorMatches({ matchExpressions: parseLabelSelector(text) }, labels), matches));

const refusals: readonly [text: string, message: string][] = [
  ['a b=c', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ['a in', "unable to parse requirement: found '' expected: '('"],
  ['a=b c', "found 'c', expected: ',' or 'end of string'"],
  ['a,,b', "found ',', expected: identifier after ','"],
  ['=a', "found '=', expected: !, identifier, or 'end of string'"],
];
for (const [text, message] of refusals)
  test(`${JSON.stringify(text)} is refused: ${message}`, () =>
    assert.throws(() => parseLabelSelector(text), { name: 'SelectorError', message }));

test('field selectors know equality, inequality and escapes', () => {
  assert.deepEqual(parseFieldSelector('metadata.name=a,status.phase!=Running,x==a\\,b'), [
    { field: 'metadata.name', equal: true, value: 'a' },
    { field: 'status.phase', equal: false, value: 'Running' },
    { field: 'x', equal: true, value: 'a,b' },
  ]);
  assert.throws(() => parseFieldSelector('nonsense'), /can't understand 'nonsense'/);
});

test('an absent selector matches nothing, an empty one everything', () => {
  assert.equal(selectorMatches(undefined, labels), false);
  assert.equal(selectorMatches(null, labels), false);
  assert.equal(selectorMatches({}, undefined), true);
  assert.equal(selectorMatches({ matchLabels: { app: 'web' } }, undefined), false);
});

test('properties that every object has are no labels', () => {
  const matchExpressions = [{ key: 'toString', operator: 'Exists' }];
  assert.equal(selectorMatches({ matchExpressions }, {}), false);
});

const key = fc.constantFrom('a', 'b', 'example.org/c');
const value = fc.constantFrom('', 'x', 'y', '7');
const rule: fc.Arbitrary<SelectorRule> = fc.oneof(
  fc.record({ key, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
  // A real server writes the list [''] as (), which it does not read back either.
  fc
    .record({ key, operator: fc.constantFrom('In', 'NotIn'), values: fc.array(value, { minLength: 1 }) })
    .filter(({ values }) => values.length > 1 || values[0] !== ''),
);
const labelled = fc.dictionary(key, value);

test('the text of a selector is read back as a selector that matches the same', () => {
  fc.assert(
    fc.property(labelled, fc.array(rule), labelled, (matchLabels, matchExpressions, object) => {
      const selector = { matchLabels, matchExpressions };
      const again = { matchExpressions: parseLabelSelector(selectorText(selector)) };
      assert.equal(selectorMatches(again, object), selectorMatches(selector, object), selectorText(selector));
    }),
  );
});

test('any text is a selector or a SelectorError', () => {
  const pieces = fc.array(
    fc.constantFrom('a', 'in', 'notin', '(', ')', ',', '!', '=', '!=', '>', ' ', '7', '\\'),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        pieces.map((all) => all.join('')),
      ),
      (text) => {
        for (const parse of [parseLabelSelector, parseFieldSelector])
          try {
            parse(text);
          } catch (error) {
            assert.ok(error instanceof SelectorError, String(error));
          }
      },
    ),
  );
});
