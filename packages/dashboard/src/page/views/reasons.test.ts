import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainReason } from './reasons.ts';

test('a reason is a sentence, also with what Slurm adds to it; an unknown one is left to stand alone', () => {
  assert.match(explainReason('Resources'), /waits for nodes/);
  assert.match(explainReason('ReqNodeNotAvail, UnavailableNodes:w-1'), /drained, down or reserved/);
  assert.equal(explainReason('SomethingNew'), '');
});
