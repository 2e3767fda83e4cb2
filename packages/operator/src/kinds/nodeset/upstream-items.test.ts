/** Every known fault of upstream that concerns workers has a test here that names it; this one finds a number without a test. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

/** Number in the inventory of faults → what goes wrong there. Those of severity 1 and 2 that a NodeSet can meet. */
const items: Readonly<Record<number, string>> = {
  1: 'without a client of Slurm every node counts as drained',
  3: 'claims are deleted because of a cordon',
  4: 'all workers are deleted when slurmctld has lost its nodes',
  8: 'false and 0 of a user are ignored, so that no worker can be unprivileged',
  9: 'a probe with only a period loses its handler',
  10: 'a user toleration takes ours away',
  11: 'revisions are never found again',
  12: 'of two workers on a machine the worse one is kept',
  13: 'workers of machines that are gone, and new machines, go unnoticed',
  14: 'a maintenance window is made again and again',
  15: 'deleting a NodeSet kills what runs',
  17: 'a new key does not reach slurmd',
  19: 'the longest of several delays wins',
  21: 'the state of a node is reset when its pod moves',
  23: 'a reservation of another NodeSet of the same name is taken over',
  24: 'two groups of deletions in one look overwrite each other',
  25: 'a shell reads what a user writes into the configuration of a node',
  28: 'negative replicas and a budget of nothing are accepted',
};

test('each of them has a test by its number', () => {
  const root = join(import.meta.dirname, '..', '..', '..', '..');
  const titles = globSync(
    ['operator/src/**/*.test.ts', 'api/src/**/*.test.ts', 'api/testdata/fixtures/*.yaml'],
    {
      cwd: root,
    },
  )
    .filter((file) => !file.endsWith('upstream-items.test.ts'))
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n');
  const missing = Object.keys(items).filter(
    (number) => !new RegExp(`upstream item ${number}\\b`).test(titles),
  );
  assert.deepEqual(missing, []);
});
