/** The recipes in CONTRIBUTING.md name files and commands that exist, and the recipe for a field works. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { customResourceDefinition, nodeSetKind } from '@slurm-operator/api';
import { optional, text } from '../packages/api/src/schema/fields.ts';

const page = readFileSync('CONTRIBUTING.md', 'utf8');
const recipes = page.slice(page.indexOf('## Recipes'), page.indexOf('## Project rules'));
const spans = [...recipes.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? '');
const targets = new Set(
  [...readFileSync('Makefile', 'utf8').matchAll(/^([a-z-]+):.*##/gm)].map((match) => match[1] ?? ''),
);

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
});
