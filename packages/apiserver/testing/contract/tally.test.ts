import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tally } from './tally.ts';

const named = (name: string) => ({ name, why: '', steps: [] });

test('a case that was not run counts neither as passed nor as failed, and its reason is said', () => {
  const tally = new Tally();
  tally.add(named('crud/01-create-get'), { result: 'passed' });
  tally.add(named('crud/53-status-by-main-path'), { result: 'not run', why: 'controllers write there' });
  tally.add(named('builtins/29-pod-resize'), { result: 'known difference', why: 'resize' });
  assert.deepEqual(tally.lines(), [
    'builtins: 0 passed, 0 failed, 1 named differences',
    'crud: 1 passed, 0 failed, 1 not run',
    'first set: 1 passed, 0 failed',
    'second set: 0 passed, 0 failed, 1 named differences, 1 not run',
    'second set, weight A: 0 passed, 0 failed, 1 not run',
    'second set, weight B: 0 passed, 0 failed, 1 named differences',
    'all: 1 passed, 0 failed, 1 named differences, 1 not run',
    'not run, 1: controllers write there',
  ]);
});
