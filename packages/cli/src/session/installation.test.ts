import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { programOf } from './installation.ts';

interface Named {
  readonly kind?: string;
  readonly metadata?: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

test('the plain YAML has an operator and a webhook', async () => {
  const text = await readFile(new URL('../../../../deploy/slurm-operator.yaml', import.meta.url), 'utf8');
  const found = parseAllDocuments(text)
    .map((document) => document.toJS() as Named | null)
    .filter((each) => each?.kind === 'Deployment')
    .map((each) => [
      each?.metadata?.name,
      each?.metadata?.labels?.['app.kubernetes.io/part-of'],
      programOf(each?.metadata?.labels),
    ]);
  assert.deepEqual(found, [
    ['slurm-operator', 'slurm-operator', 'operator'],
    ['slurm-operator-webhook', 'slurm-operator', 'webhook'],
  ]);
});

test('the label of the component counts more than a name', () => {
  const of = (name: string, component?: string) =>
    programOf({
      'app.kubernetes.io/name': name,
      ...(component === undefined ? {} : { 'app.kubernetes.io/component': component }),
    });
  assert.equal(of('hpc-webhook', 'operator'), 'operator');
  assert.equal(of('hpc', 'webhook'), 'webhook');
  assert.equal(of('slurm-operator-dashboard'), 'dashboard');
  assert.equal(programOf(), 'operator');
});
