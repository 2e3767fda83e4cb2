import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ControllerNote,
  emptyControllerMemory,
  pauseBefore,
  planResizes,
  resizeAgainAfter,
  withConfig,
  withRefusedSizes,
} from './memory.ts';

test('the first change passes at once, the next waits for the rest of the period, the same content never waits', () => {
  const none = emptyControllerMemory;
  assert.equal(pauseBefore('one', none, 0), 0);
  const one = withConfig(none, 'one', 0);
  assert.equal(pauseBefore('one', one, 10), 0);
  const again = withConfig(one, 'one', 10);
  assert.equal(pauseBefore('two', again, 400), 1100, 'writing the same again does not prolong the wait');
  assert.equal(pauseBefore('two', again, 1500), 0);
  const two = withConfig(again, 'two', 1500);
  assert.equal(pauseBefore('three', two, 2500), 500);
  assert.equal(pauseBefore('three', two, -100_000), 0, 'a clock that is set back holds nothing');
});

const claim = { name: 'statesave-slurm-controller-0', uid: 'u', size: '10Gi' };
const refused = (size: string, at: number): ControllerNote => ({
  type: 'resize-refused',
  claim: { ...claim, size },
  why: 'the storageclass must support resize',
  at,
});

test('a refused size is quoted, and asked for again after five minutes; another size at once', () => {
  assert.deepEqual(planResizes([claim], emptyControllerMemory, 0).ask, [claim]);
  const memory = withRefusedSizes(emptyControllerMemory, [claim], [refused('10Gi', 0)]);
  const { ask, problems, againAt } = planResizes([claim], memory, 1000);
  assert.deepEqual([ask, againAt], [[], [resizeAgainAfter]]);
  assert.match(problems[0]?.message ?? '', /"10Gi".*must support resize/);
  assert.equal(planResizes([{ ...claim, size: '12Gi' }], memory, 2000).ask.length, 1);
  assert.equal(planResizes([claim], memory, resizeAgainAfter).ask.length, 1);
  assert.equal(withRefusedSizes(memory, [claim], []).refusedSizes.size, 0, 'accepted');
});
