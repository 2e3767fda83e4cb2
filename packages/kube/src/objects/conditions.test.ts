import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Condition, isTrue, setCondition } from './conditions.ts';

const at = (second: number) => Date.UTC(2026, 0, 1, 0, 0, second);
const ready = (status: 'True' | 'False', message = 'm') =>
  ({ type: 'Ready', status, reason: 'R', message }) as const;

test('lastTransitionTime changes with status and with nothing else', () => {
  const first = setCondition(undefined, ready('False'), at(1));
  assert.equal(first[0]?.lastTransitionTime, '2026-01-01T00:00:01Z');
  const reworded = setCondition(first, ready('False', 'other words'), at(2));
  assert.equal(reworded[0]?.lastTransitionTime, '2026-01-01T00:00:01Z');
  assert.equal(reworded[0]?.message, 'other words');
  const turned = setCondition(reworded, ready('True'), at(3));
  assert.equal(turned[0]?.lastTransitionTime, '2026-01-01T00:00:03Z');
  assert.ok(isTrue(turned, 'Ready'));
});

test('an unchanged condition returns the same array', () => {
  const list = setCondition([], ready('True'), at(1));
  assert.equal(setCondition(list, ready('True'), at(9)), list);
  assert.notEqual(setCondition(list, { ...ready('True'), observedGeneration: 2 }, at(9)), list);
});

test('other conditions and their order are kept', () => {
  const other: Condition = { type: 'A', status: 'True', reason: 'r', message: '', lastTransitionTime: 't' };
  const list = setCondition(
    [other, { ...other, type: 'Ready' }, { ...other, type: 'Z' }],
    ready('False'),
    at(1),
  );
  assert.deepEqual(
    list.map(({ type }) => type),
    ['A', 'Ready', 'Z'],
  );
  assert.equal(list[0], other);
});
