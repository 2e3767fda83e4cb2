/**
 * What the charts make of values, word for word, as it was reviewed once: no label, port, probe, right or value goes missing
 * unseen. `UPDATE_GOLDEN=1 make test ONLY=charts/golden` writes the files again; review the difference.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before as beforeAll, test } from 'node:test';
import { stringify } from 'yaml';
import { chart, Helm } from './src/index.ts';
import { operatorMatrix, slurmMatrix } from './testing/matrix.ts';

const directory = join(import.meta.dirname, 'testdata/golden');
const update = process.env['UPDATE_GOLDEN'] === '1';
/** Those that differ from each other in more than one place. */
const telling = ['defaults', 'several replicas with budgets', 'everything else'];
const charts = {
  slurm: { matrix: slurmMatrix, namespace: 'slurm' },
  'slurm-operator': {
    matrix: {
      ...Object.fromEntries(Object.entries(operatorMatrix).filter(([name]) => telling.includes(name))),
      // Kinds of others, which the API server of the other tests does not know.
      'certificates of cert-manager': { certManager: { enabled: true } },
    } as Readonly<Record<string, object>>,
    namespace: 'slinky',
  },
} as const;

let helm: Helm;
beforeAll(async () => {
  helm = await Helm.open({ progress: console.log });
});
after(() => helm?.[Symbol.asyncDispose]());

const fileOf = (name: string): string => `${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.yaml`;

for (const name of ['slurm', 'slurm-operator'] as const) {
  const { matrix, namespace } = charts[name];
  const place = join(directory, name);
  for (const [values, given] of Object.entries(matrix))
    test(`${name} with ${values}: as it was reviewed`, async () => {
      const manifests = await helm.template(name, chart(name), given, ['--namespace', namespace]);
      // Definitions and rules are made from the code, and checked there.
      const text = manifests
        .filter(({ kind }) => kind !== 'CustomResourceDefinition')
        .map(({ rules: _rules, ...manifest }) =>
          stringify(manifest, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false }),
        )
        .join('---\n');
      const file = join(place, fileOf(values));
      if (update) {
        mkdirSync(place, { recursive: true });
        writeFileSync(file, text);
      }
      assert.equal(text, readFileSync(file, 'utf8'), `${file}: review the difference, then UPDATE_GOLDEN=1`);
    });
  test(`${name}: no reviewed file is left over`, () => {
    assert.deepEqual(readdirSync(place).toSorted(), Object.keys(matrix).map(fileOf).toSorted());
  });
}
