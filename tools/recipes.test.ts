/** The recipes in CONTRIBUTING.md name files and commands that exist, and each of them works. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { customResourceDefinition, kinds, nodeSetKind } from '@slurm-operator/api';
import { reasonRow } from '../packages/api/generate/reasons-page.ts';
import { kindPage } from '../packages/api/generate/reference.ts';
import { optional, text } from '../packages/api/src/schema/fields.ts';
import { managerNamespaceRules } from '../packages/operator/src/rbac/rules.ts';
import { tiers } from './targets/tiers.ts';

const read = (file: string) => readFileSync(file, 'utf8');
const page = read('CONTRIBUTING.md');
const recipes = page.slice(page.indexOf('## Recipes'), page.indexOf('## Project rules'));
const spans = [...recipes.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? '');
const targets = new Set([...read('Makefile').matchAll(/^([a-z-]+):.*##/gm)].map((match) => match[1] ?? ''));

const isPath = (span: string) => /^[\w./-]+$/.test(span) && (span.includes('/') || span.endsWith('.md'));
const missingPaths = (all: readonly string[]) => all.filter((span) => isPath(span) && !existsSync(span));
const missingTargets = (all: readonly string[]) =>
  all.flatMap((span) => /^make ([a-z-]+)/.exec(span)?.[1] ?? []).filter((name) => !targets.has(name));

test('every file and folder in the recipes exists', () => {
  assert.ok(spans.filter(isPath).length > 15);
  assert.deepEqual(missingPaths(spans), []);
  assert.deepEqual(missingPaths(['docs/no-such-page.md']), ['docs/no-such-page.md'], 'finds planted errors');
});

test('every make target in the recipes exists', () => {
  assert.deepEqual(missingTargets(spans), []);
  assert.deepEqual(missingTargets(['make nonsense']), ['nonsense'], 'finds planted errors');
});

test('every path and target that a command of the recipes uses exists', () => {
  const used = spans.flatMap((span) => [...span.matchAll(/(?:ONLY=|node )([\w./-]*\/[\w./-]+)/g)]);
  assert.ok(used.length > 1);
  for (const [, path = ''] of used) assert.ok(existsSync(path), path);
});

test('the recipe for a field: a field in the schema appears in the CRD with its description', () => {
  const field = optional(text({ description: 'A field of a recipe.', maxLength: 10 }));
  const spec = { ...nodeSetKind.spec, properties: { ...nodeSetKind.spec.properties, recipe: field } };
  const definition = JSON.stringify(customResourceDefinition({ ...nodeSetKind, spec }));
  assert.match(definition, /"recipe":\{[^}]*"description":"A field of a recipe\."/);
  assert.match(kindPage({ ...nodeSetKind, spec }), /`recipe`.*A field of a recipe\./);
});

test('the recipe for a kind: every kind has followed each step', () => {
  const fixtures = globSync('packages/api/testdata/fixtures/*.yaml').map(read).join('\n');
  const missed = kinds.flatMap(({ kind, plural }) => {
    const steps = {
      fixtures: fixtures.includes(`kind: ${kind}\n`),
      permissions: JSON.stringify(managerNamespaceRules).includes(`"${plural}"`),
      'a reference page': existsSync(`docs/reference/${kind.toLowerCase()}.md`),
    };
    return Object.entries(steps).flatMap(([step, isDone]) => (isDone ? [] : [`${kind}: ${step}`]));
  });
  assert.deepEqual(missed, []);
  const operator = read('packages/operator/src/programs/operator.ts');
  const readme = read('packages/operator/README.md');
  const folders = globSync('packages/operator/src/kinds/*').map((path) => basename(path));
  assert.ok(folders.length >= 7);
  for (const folder of folders) {
    for (const part of ['reconciler', 'setup'])
      assert.ok(existsSync(`packages/operator/src/kinds/${folder}/${part}.ts`), `${folder} has no ${part}`);
    assert.ok(operator.includes(`'../kinds/${folder}/setup.ts'`), `the setup of ${folder} is not called`);
    assert.ok(readme.includes(`\`${folder}/\``), `${folder} is not in packages/operator/README.md`);
  }
});

test('the recipe for a reason: a reason is a row of the troubleshooting page, with its meaning and advice', () => {
  const row = reasonRow('OutOfPaper', {
    group: 'pods',
    meaning: 'The printer is empty.',
    advice: 'Add paper.',
  });
  assert.equal(row, '| `OutOfPaper` | The printer is empty. | Add paper. |');
});

test('the recipe for a test: the table of file names is the tiers that run', () => {
  const rows = [...page.matchAll(/^\| `x(\.[a-z.]+\.ts)` \| ([a-z]+) \|/gm)].map(([, suffix, tier]) => [
    tier,
    suffix,
  ]);
  assert.deepEqual(
    rows,
    Object.entries(tiers).map(([tier, { suffix }]) => [tier, suffix]),
  );
});
