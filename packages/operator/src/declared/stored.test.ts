import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toFields } from './fields.ts';
import { changeLines, readApplied, writeApplied } from './stored.ts';

test('what was applied is read as it was written; a text that is no JSON counts as being written', () => {
  const applied = { name: 'low', priority: 7, flags: ['NoDecay'], isOn: true, description: null };
  assert.deepEqual(readApplied(writeApplied(applied)), applied);
  assert.deepEqual(readApplied({ name: 'low', list: '[1]', map: '{}' }), {
    name: null,
    list: null,
    map: null,
  });
  assert.equal(readApplied(undefined), undefined);
});

test('changes are lines, and a long list is counted', () => {
  const lines = [
    { path: 'priority', from: 10, to: 1000 },
    { path: 'limits.perUser.tres.gres/gpu', from: undefined, to: 8 },
    { path: 'preempts', from: ['low', 'spot'], to: undefined },
  ];
  assert.deepEqual(changeLines(lines), [
    'change priority from 10 to 1000',
    'set limits.perUser.tres.gres/gpu to 8',
    'unset preempts ([low, spot])',
  ]);
  const many = Array.from({ length: 60 }, (_, index) => ({ path: `p${index}`, from: undefined, to: index }));
  assert.equal(changeLines(many).length, 51);
  assert.equal(changeLines(many).at(-1), '10 more');
});

test('a nested specification is a list of its leaves', () => {
  const spec = {
    priority: 1,
    limits: { perUser: { tres: { 'gres/gpu': 2 }, jobs: undefined } },
    preempts: [],
  };
  assert.deepEqual(toFields(spec), { priority: 1, 'limits.perUser.tres.gres/gpu': 2, preempts: [] });
});
