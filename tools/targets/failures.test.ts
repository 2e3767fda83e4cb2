import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeFailures } from './failures.ts';

const failure = (name: string, error = 'Error: no\n    at somewhere\n    at x (node:internal/y:1:2)') => ({
  name,
  where: 'a.test.ts:3',
  error,
});

test('no failure is no text', () => {
  assert.equal(describeFailures([]), '');
});

test('each failure is printed with its error, and all names come last', () => {
  const text = describeFailures([failure('one'), { name: 'types', where: '', error: 'x.ts(1): bad' }]);
  assert.match(text, /✘ one \(a\.test\.ts:3\)\n {4}Error: no\n {8}at somewhere\n/);
  assert.match(text, /✘ types\n {4}x\.ts\(1\): bad\n/);
  assert.deepEqual(text.split('\n').slice(-3), [
    'All 2 by name:',
    '  ✘ one (a.test.ts:3): Error: no',
    '  ✘ types: x.ts(1): bad',
  ]);
});

test('long errors and long lists are cut, names never', () => {
  const endless = Array.from({ length: 1000 }, (_, line) => `line ${line} ${'x'.repeat(300)}`).join('\n');
  const text = describeFailures(Array.from({ length: 60 }, (_, index) => failure(`test ${index}`, endless)));
  assert.ok(text.length < 60 * 300 + 25 * 4200);
  assert.match(text, /35 more in the list of names/);
  for (let index = 0; index < 60; index++)
    assert.ok(text.includes(`\n  ✘ test ${index} (a.test.ts:3): line 0`), `test ${index}`);
});

test('the last output of a file is printed with its failure', () => {
  const said = Array.from({ length: 500 }, (_, line) => `log ${line}`).join('\n');
  const text = describeFailures([{ ...failure('one'), said }, failure('two')]);
  assert.match(text, /✘ one[^]*last output of its file:\n[^]*│ log 499\n\n✘ two/);
  assert.ok(!text.includes('log 100'));
});
