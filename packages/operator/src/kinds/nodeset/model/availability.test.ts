import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotation } from '@slurm-operator/api';
import { observed, worker } from '../../../../testing/observed.ts';
import { confServerAnnotation } from '../annotations.ts';
import { hasOldKeys, isCurrent, resolveMaxUnavailable } from './availability.ts';

test('a worker whose slurmd would look for slurmctld at an old address is replaced', () => {
  const seen = observed([], [], { hashes: { [confServerAnnotation]: 'slurm-controller-0.hpc:7000' } });
  const started = (server?: string) =>
    worker(0, { hashes: server === undefined ? {} : { [confServerAnnotation]: server } });
  assert.equal(isCurrent(started('slurm-controller-0.hpc:6817'), seen), false);
  assert.equal(isCurrent(started('slurm-controller-0.hpc:7000'), seen), true);
  assert.equal(isCurrent(started(), seen), true, 'an older operator did not note it');
  assert.equal(hasOldKeys(started('slurm-controller-0.hpc:6817'), seen), false, 'its keys are not old');
});

test('an old slurm.key does not replace a worker', () => {
  const seen = observed([], [], { hashes: { [annotation.slurmKeyHash]: 'b' } });
  const old = worker(0, { hashes: { [annotation.slurmKeyHash]: 'a' } });
  assert.deepEqual([isCurrent(old, seen), hasOldKeys(old, seen)], [true, true]);
});

test('maxUnavailable rounds up and never below one', () => {
  for (const [value, desired, expected] of [
    ['25%', 10, 3],
    ['1%', 5, 1],
    [2, 10, 2],
    ['100%', 4, 4],
    ['25%', 0, 1],
    ['x', 9, 1],
  ] as const) {
    assert.equal(resolveMaxUnavailable(value, desired), expected, `${value} of ${desired}`);
  }
});
