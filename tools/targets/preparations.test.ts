import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Preparation, preparations, preparationsOf, preparedAfter } from './preparations.ts';
import { testFiles } from './tiers.ts';

test('every file that uses Debian packages has them prepared; what touches only memory waits for nothing', () => {
  for (const tier of ['sandbox', 'cluster'] as const) {
    // A given Kubernetes needs nothing of ours.
    const files = testFiles(tier).filter((file) => !file.includes('contract-given'));
    for (const file of files) assert.notDeepEqual(preparationsOf(file), [], file);
  }
  for (const file of testFiles('unit')) assert.deepEqual(preparationsOf(file), [], file);
});

test('no preparation waits for itself', () => {
  const before = (name: Preparation): readonly Preparation[] => [
    ...preparedAfter[name],
    ...preparedAfter[name].flatMap(before),
  ];
  for (const name of Object.keys(preparations) as Preparation[]) assert.ok(!before(name).includes(name));
});
