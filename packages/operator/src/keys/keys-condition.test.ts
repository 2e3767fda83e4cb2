import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keysCondition } from './keys-condition.ts';

const pod = (name: string, slurm?: string, jwt?: string) => ({ name, annotations: { slurm, jwt } });

test('daemons on an old key are counted and named, the first three of them', () => {
  const wanted = { slurm: 'new', jwt: 'j' };
  assert.equal(keysCondition([pod('a', 'new', 'j')], wanted).status, 'True');
  assert.equal(keysCondition([], wanted).status, 'True');
  const old = keysCondition(
    [pod('a', 'old', 'j'), pod('b', 'new', 'old'), pod('c', 'new', 'j'), pod('d'), pod('e', 'old', 'j')],
    wanted,
  );
  assert.deepEqual([old.status, old.reason], ['False', 'KeyRotation']);
  assert.equal(old.message, '4 of 5 daemons still use an old key: a, b, d and 1 more.');
});
