/** What the documentation shows must work. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { definitionOf, evaluateRules, type Manifest } from '../testing/index.ts';
import { rootSchema } from './schema/crd.ts';

test('docs/objects.md shows a Controller, a NodeSet and a Cluster in fifteen lines that are accepted', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/objects.md'), 'utf8');
  const example = /```yaml\n(.*?)```/s.exec(page)?.[1] ?? '';
  assert.equal(example.trimEnd().split('\n').length, 15);
  const manifests = parseAllDocuments(example).map((document) => document.toJS() as Manifest);
  assert.deepEqual(
    manifests.map((manifest) => manifest.kind),
    ['Controller', 'NodeSet', 'Cluster'],
  );
  for (const manifest of manifests)
    assert.deepEqual(evaluateRules(rootSchema(definitionOf(manifest.kind)), manifest), [], manifest.kind);
});
