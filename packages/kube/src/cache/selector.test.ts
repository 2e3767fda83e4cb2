import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldMatcher, labelMatcher } from './selector.ts';

const object = (labels?: Record<string, string>, rest: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'n', ...(labels === undefined ? {} : { labels }) },
  ...rest,
});

const cases: [selector: string | undefined, labels: Record<string, string> | undefined, matches: boolean][] =
  [
    [undefined, undefined, true],
    ['', { a: '1' }, true],
    ['a=1', { a: '1' }, true],
    ['a == 1', { a: '1' }, true],
    ['a=1', { a: '2' }, false],
    ['a=1', undefined, false],
    ['a!=1', { a: '2' }, true],
    ['a!=1', {}, true],
    ['a in (1, 2)', { a: '2' }, true],
    ['a in (1,2)', { a: '3' }, false],
    ['a in (1,2)', {}, false],
    ['a notin (1,2)', {}, true],
    ['a notin (1,2)', { a: '1' }, false],
    ['a', { a: '' }, true],
    ['a', {}, false],
    ['toString', {}, false],
    ['!a', {}, true],
    ['!a', { a: 'x' }, false],
    ['a=1,b in (x,y),!c', { a: '1', b: 'y' }, true],
    ['a=1,b in (x,y),!c', { a: '1', b: 'y', c: '' }, false],
    ['example.org/a-b=1', { 'example.org/a-b': '1' }, true],
  ];

for (const [selector, labels, matches] of cases)
  test(`labels ${JSON.stringify(labels)} ${matches ? 'match' : 'do not match'} "${selector}"`, () => {
    assert.equal(labelMatcher(selector)(object(labels)), matches);
  });

test('field selectors use paths, and a missing field is empty', () => {
  const pod = object({}, { spec: { nodeName: 'n1' }, status: { phase: 'Running' } });
  assert.equal(fieldMatcher('spec.nodeName=n1,status.phase!=Failed')(pod), true);
  assert.equal(fieldMatcher('spec.nodeName=')(pod), false);
  assert.equal(fieldMatcher('spec.nodeName=')(object()), true);
  assert.equal(fieldMatcher('metadata.name=p')(pod), true);
});

test('throws on an invalid selector, with the expected form', () => {
  assert.throws(() => labelMatcher('a = = b'), /key=value/);
  assert.throws(() => labelMatcher('a in b'), TypeError);
  assert.throws(() => fieldMatcher('spec.nodeName'), /path=value/);
});
