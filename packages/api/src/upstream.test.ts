/** Compatibility with upstream, field by field. The table is `testdata/upstream/fields.txt`. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { definitionOf } from '../testing/index.ts';
import { kinds } from './kinds/index.ts';
import { customResourceDefinition, rootSchema } from './schema/crd.ts';
import { type SchemaNode, walk } from './schema/paths.ts';

interface UpstreamField {
  readonly kind: string;
  readonly path: string;
  readonly type: string;
  readonly facts: ReadonlyMap<string, string>;
}

const table: UpstreamField[] = readFileSync(
  join(import.meta.dirname, '../testdata/upstream/fields.txt'),
  'utf8',
)
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [kind = '', path = '', type = '', ...facts] = line.split(/\s+/);
    return { kind, path, type, facts: new Map(facts.map((fact) => fact.split('=', 2) as [string, string])) };
  });

const nodesOf = (kind: string): Map<string, SchemaNode> =>
  new Map([...walk(rootSchema(definitionOf(kind)))].map((node) => [node.path, node]));

/** Where ours says more than upstream on purpose, and accepts the same. */
const narrowed: ReadonlyMap<string, string> = new Map([
  ['NodeSet spec.volumeClaimTemplates', 'a list of open objects, so that a rule can compare it'],
]);

test('the table covers the six kinds of upstream', () => {
  assert.equal(table.length, 310);
  assert.deepEqual([...new Set(table.map((field) => field.kind))].toSorted(), [
    'Accounting',
    'Controller',
    'LoginSet',
    'NodeSet',
    'RestApi',
    'Token',
  ]);
});

const ancestorsOf = (path: string): string[] =>
  path.split('.').flatMap((_, at, keys) => (at === 0 ? [] : [keys.slice(0, at).join('.')]));

for (const kind of ['Accounting', 'Controller', 'LoginSet', 'NodeSet', 'RestApi', 'Token']) {
  test(`${kind} has every field of upstream, of the same type, default and enum`, () => {
    const nodes = nodesOf(kind);
    const differences = table
      .filter((field) => field.kind === kind)
      .flatMap((field) => compare(field, nodes));
    assert.deepEqual(differences, []);
  });

  test(`${kind} requires nothing that upstream leaves optional`, () => {
    const required = new Set(
      table.filter((field) => field.kind === kind && field.facts.has('required')).map((field) => field.path),
    );
    const known = new Set(table.filter((field) => field.kind === kind).map((field) => field.path));
    const nodes = nodesOf(kind);
    const stricter = [...nodes.values()]
      .filter(
        (node) => node.required && !required.has(node.path) && !node.path.startsWith('status.conditions[]'),
      )
      // An object without a specification asks for nothing at all.
      .filter((node) => node.path !== 'spec')
      // Nor does an optional object that upstream does not have.
      .filter(
        (node) =>
          !ancestorsOf(node.path).some((path) => !known.has(path) && nodes.get(path)?.required === false),
      )
      .map((node) => `${node.path}${known.has(node.path) ? '' : ' (ours)'}`);
    assert.deepEqual(stricter, []);
  });
}

test('every field of a specification that upstream lacks is named in decision 0006', () => {
  const decision = readFileSync(
    join(import.meta.dirname, '../../../docs/decisions/0006-differences-from-upstream.md'),
    'utf8',
  );
  const unnamed = ['Accounting', 'Controller', 'LoginSet', 'NodeSet', 'RestApi', 'Token'].flatMap((kind) => {
    const known = new Set(table.filter((field) => field.kind === kind).map(({ path }) => path));
    const isNamed = (path: string) => decision.includes(`\`${kind}.${path}\``);
    return [...nodesOf(kind).keys()]
      .filter((path) => path.startsWith('spec') && !known.has(path))
      .filter((path) => !path.includes('[]') && !path.endsWith('{}') && !path.includes('template.spec.'))
      .filter((path) => !isNamed(path) && !ancestorsOf(path).some(isNamed))
      .map((path) => `${kind}.${path}`);
  });
  assert.deepEqual(unnamed, []);
});

function compare(field: UpstreamField, nodes: ReadonlyMap<string, SchemaNode>): string[] {
  const node = nodes.get(field.path);
  if (node === undefined) return [`${field.path} is missing`];
  const { schema } = node;
  const differences: string[] = [];
  const expect = (what: string, ours: unknown, theirs: unknown): void => {
    if (JSON.stringify(ours) !== JSON.stringify(theirs))
      differences.push(
        `${field.path}: ${what} is ${JSON.stringify(ours)}, upstream has ${JSON.stringify(theirs)}`,
      );
  };
  const fact = (name: string): string | undefined => field.facts.get(name);
  const isNarrowed = narrowed.has(`${field.kind} ${field.path}`);
  if (!isNarrowed) {
    expect(
      'type',
      schema['x-kubernetes-int-or-string'] ? 'int-or-string' : (schema.type ?? 'any'),
      field.type,
    );
    expect('openness', schema['x-kubernetes-preserve-unknown-fields'] ?? false, field.facts.has('open'));
  }
  expect('nullable', schema.nullable ?? false, field.facts.has('nullable'));
  if (field.facts.has('required')) expect('required', node.required || schema.default !== undefined, true);
  const theirDefault = fact('default');
  if (theirDefault !== undefined) expect('default', schema.default, JSON.parse(theirDefault));
  else if (schema.type !== 'object' && !field.path.startsWith('status.'))
    expect('default', schema.default, undefined);
  if (field.facts.has('enum')) expect('enum', schema.enum?.toSorted(), fact('enum')?.split(','));
  else expect('enum', schema.enum, undefined);
  if (field.facts.has('minimum')) expect('minimum', schema.minimum, Number(fact('minimum')));
  if (field.facts.has('format')) expect('format', schema.format, fact('format'));
  if (fact('merge') === 'atomic')
    expect(
      'merge',
      schema.type === 'array' ? schema['x-kubernetes-list-type'] : schema['x-kubernetes-map-type'],
      'atomic',
    );
  if (fact('merge') === 'by-type') expect('merge', schema['x-kubernetes-list-map-keys'], ['type']);
  return differences;
}

const names: Readonly<Record<string, { short: string[]; columns: string[]; scale: boolean }>> = {
  Controller: { short: ['slurmctld'], columns: ['AGE'], scale: false },
  NodeSet: {
    short: ['nodesets', 'nss', 'slurmd'],
    columns: ['DESIRED', 'REPLICAS', 'UPDATED', 'READY', 'IDLE', 'ALLOCATED', 'DOWN', 'DRAIN', 'AGE'],
    scale: true,
  },
  LoginSet: { short: ['loginsets', 'lss', 'sackd'], columns: ['REPLICAS', 'AGE'], scale: true },
  Accounting: { short: ['slurmdbd'], columns: ['AGE'], scale: false },
  RestApi: { short: ['slurmrestd'], columns: ['AGE'], scale: false },
  Token: { short: ['tokens', 'jwt'], columns: ['USER', 'IAT', 'AGE'], scale: false },
};

test('short names, columns and scale paths are upstream’s, with ours added', () => {
  for (const [kind, expected] of Object.entries(names)) {
    const { spec } = customResourceDefinition(definitionOf(kind));
    const [version] = spec.versions;
    assert.deepEqual(spec.names.shortNames, expected.short);
    const columns = definitionOf(kind).columns.map((column) => column.name);
    assert.deepEqual(
      columns.filter((name) => expected.columns.includes(name)),
      expected.columns,
      `columns of ${kind} in upstream's order`,
    );
    assert.deepEqual(
      version?.subresources['scale'],
      expected.scale
        ? {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          }
        : undefined,
    );
    assert.deepEqual(version?.subresources['status'], {});
  }
});

test('`kubectl get slurm` lists every kind, and each says whether it is ready', () => {
  for (const definition of kinds) {
    const { names: crdNames } = customResourceDefinition(definition).spec;
    assert.deepEqual(crdNames.categories, ['slurm']);
    assert.ok(
      definition.columns.some((column) => column.name === 'READY'),
      `${definition.kind} has a column READY`,
    );
  }
});

test('NodeSet prints ready workers as a number and Cluster prints readiness as a boolean', () => {
  const ready = (kind: string) => definitionOf(kind).columns.find((column) => column.name === 'READY');
  assert.deepEqual(
    [ready('NodeSet')?.type, ready('NodeSet')?.jsonPath],
    ['integer', '.status.readyReplicas'],
  );
  assert.deepEqual([ready('Cluster')?.type, ready('Cluster')?.jsonPath], ['boolean', '.status.isReady']);
});
