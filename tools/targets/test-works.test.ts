import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileWorks, preparationWorks } from './test-works.ts';

test('files of the tiers that wait go to their lane, with what they start from', () => {
  const [work] = fileWorks('cluster', ['e2e/soak.cluster.test.ts'], {});
  assert.deepEqual([work?.lane, work?.share, work?.after], ['waiting', 2, ['prepare images-26.05']]);
});

test('unit tests are one piece of work that waits for nothing', () => {
  const works = fileWorks('unit', ['a.test.ts', 'b.test.ts'], { 'unit tests': 33 });
  assert.equal(works.length, 1);
  assert.deepEqual([works[0]?.lane, works[0]?.seconds, works[0]?.after], ['computing', 33, []]);
});

test('a measured time counts, a guess stands in for it', () => {
  const files = ['packages/kube/a.integration.test.ts', 'packages/kube/b.integration.test.ts'];
  const [a, b] = fileWorks('integration', files, { [files[0] ?? '']: 77 });
  assert.equal(a?.seconds, 77);
  assert.ok((b?.seconds ?? 0) > 0);
});

test('only what the chosen files start from is prepared, in an order that works', () => {
  assert.deepEqual(
    preparationWorks(fileWorks('integration', ['packages/kube/a.integration.test.ts'], {})),
    [],
  );
  const works = preparationWorks(fileWorks('cluster', ['e2e/helm-example.cluster.test.ts'], {}));
  assert.deepEqual(works.map(({ preparation }) => preparation).toSorted(), [
    'helm',
    'images-24.11',
    'images-26.05',
  ]);
  const names = works.map(({ name }) => name);
  for (const work of works) for (const before of work.after) assert.ok(names.includes(before));
});
