import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { includesTask } from './array-tasks.ts';

const tasksOf = (text: string) =>
  Array.from({ length: 30 }, (_, task) => task).filter((task) => includesTask(text, task));

test('reads the notations of Slurm', () => {
  assert.deepEqual(tasksOf('3'), [3]);
  assert.deepEqual(tasksOf('0-3%2'), [0, 1, 2, 3]);
  assert.deepEqual(tasksOf('1,3,5-7'), [1, 3, 5, 6, 7]);
  assert.deepEqual(tasksOf('0-20:5%1'), [0, 5, 10, 15, 20]);
  assert.deepEqual(tasksOf(''), []);
  assert.deepEqual(tasksOf('N/A'), []);
  assert.equal(includesTask('1,3,5,...', 99), true, 'a list that is cut may go on');
});

test('includes what was listed, and nothing else', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat({ max: 29 })), (tasks) => {
      assert.deepEqual(
        tasksOf(tasks.join(',')),
        tasks.toSorted((a, b) => a - b),
      );
    }),
  );
});
