/** What the charts make of values: acceptable to an API server, and the same every time. */
import assert from 'node:assert/strict';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before as beforeAll, test } from 'node:test';
import { chart, type Manifest } from './src/index.ts';
import { ChartStage } from './testing/chart-stage.ts';
import { operatorMatrix, slurmMatrix } from './testing/matrix.ts';

let stage: ChartStage;
beforeAll(async () => {
  stage = await ChartStage.open();
});
after(() => stage?.[Symbol.asyncDispose]());

for (const [name, values] of Object.entries(slurmMatrix))
  test(`slurm with ${name}: accepted by the API server, and the same when rendered again`, async () => {
    const manifests = await stage.slurm(values);
    assert.deepEqual(await stage.slurm(values), manifests);
    await stage.accepts(manifests, 'slurm');
  });

for (const [name, values] of Object.entries(operatorMatrix))
  test(`slurm-operator with ${name}: accepted by the API server`, async () => {
    const manifests = await stage.operator(values);
    await stage.accepts(
      manifests.filter(({ kind }) => kind !== 'CustomResourceDefinition'),
      'slinky',
    );
  });

test('lint finds nothing wrong with the charts', async () => {
  for (const name of ['slurm-operator-crds', 'slurm-operator', 'slurm'] as const)
    await stage.helm.run(['lint', '--strict', chart(name)]);
});

test('a new version of the chart alone changes nothing but labels that pods do not get', async () => {
  const next = join(stage.directory, 'next');
  await cp(chart('slurm'), next, { recursive: true });
  const description = await readFile(join(next, 'Chart.yaml'), 'utf8');
  await writeFile(
    join(next, 'Chart.yaml'),
    description
      .replace(/^version: .*$/m, 'version: 9.9.9')
      .replace(/^appVersion: .*$/m, 'appVersion: "99.99"'),
  );
  const values = slurmMatrix['everything at once'] ?? {};
  const upgraded = await stage.helm.template('slurm', next, values, ['--namespace', 'slurm']);
  assert.match(JSON.stringify(upgraded), /slurm-9\.9\.9/);
  const plain = (manifests: readonly Manifest[]) =>
    manifests.map((manifest) => {
      const {
        'helm.sh/chart': _chart,
        'app.kubernetes.io/version': _version,
        ...labels
      } = manifest.metadata.labels ?? {};
      return { ...manifest, metadata: { ...manifest.metadata, labels } };
    });
  assert.deepEqual(plain(upgraded), plain(await stage.slurm(values)));
});
