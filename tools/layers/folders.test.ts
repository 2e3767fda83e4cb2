/** Inside a package, too, dependencies point one way. */
import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { cycles, drawGraph, folderGraph, packageGraphs } from './folder-graph.ts';
import { folderBreaches, staleEdges } from './folder-rules.ts';
import { source } from './sources.ts';

test('folders import only what tools/layers/edges.json declares, and never in a circle', () => {
  const graphs = packageGraphs();
  assert.deepEqual(
    graphs.flatMap(({ name, graph, declared }) => folderBreaches(name, graph, declared)),
    [],
  );
  assert.deepEqual(
    graphs.flatMap(({ name, graph, declared }) => staleEdges(name, graph, declared)),
    [],
  );
});

test('every package with folders in src is declared', () => {
  const declared = new Set(packageGraphs().map(({ name }) => name));
  const packages = globSync(['*/package.json', 'packages/*/package.json']).map((file) => dirname(file));
  const missing = packages.filter(
    (name) => !declared.has(name) && existsSync(`${name}/src`) && globSync(`${name}/src/*/*.ts`).length > 0,
  );
  assert.deepEqual(missing, []);
});

const root = 'packages/x/src';
const planted = (files: Readonly<Record<string, string>>, nested: readonly string[] = []) =>
  folderGraph(
    root,
    Object.entries(files).map(([file, text]) => source(`${root}/${file}`, text)),
    nested,
  );

test('detects an undeclared edge, an undeclared folder, a circle and a stale edge', () => {
  const graph = planted({
    'a/one.ts': "import { two } from '../b/two.ts';",
    'b/two.ts': "export * from '../a/one.ts';",
    'c/three.ts': "const four = await import('../errors.ts');",
    'errors.ts': '',
  });
  assert.deepEqual(folderBreaches('x', graph, { folders: { a: ['b', 'c'], b: [] } }), [
    'x: b imports a; invert the dependency, or declare the edge in tools/layers/edges.json',
    'x: folder c is not declared in tools/layers/edges.json',
    'x: a, b import each other in a circle',
  ]);
  assert.deepEqual(staleEdges('x', graph, { folders: { a: ['b', 'c'], d: [] } }), [
    'x: a no longer imports c; remove the edge from tools/layers/edges.json',
    'x: folder d is gone; remove it from tools/layers/edges.json',
  ]);
});

test('a circle through a file at the top is one, a circle inside a folder or of tests is none', () => {
  const through = planted({ 'a/one.ts': "import '../server.ts';", 'server.ts': "import './a/one.ts';" });
  assert.deepEqual(cycles(through), [['a', 'server.ts']]);
  const within = planted({ 'a/one.ts': "import './two.ts';", 'a/two.ts': "import './one.ts';" });
  assert.deepEqual(cycles(within), []);
  const tests = planted({ 'a/one.test.ts': "import '../b/two.ts';", 'b/two.ts': "import '../a/one.ts';" });
  assert.deepEqual(cycles(tests), []);
});

test('nested folders count on their own where they are declared', () => {
  const graph = planted({ 's/a/1.ts': "import '../b/2.ts';", 's/b/2.ts': '' }, ['s/a', 's/b']);
  assert.deepEqual([...graph.keys()], ['s/a', 's/b']);
  assert.deepEqual([...(graph.get('s/a') ?? [])], ['s/b']);
});

test('the picture leaves out what a longer way says, and dashes circles', () => {
  const graph = planted({
    'a/1.ts': "import '../b/2.ts'; import '../c/3.ts';",
    'b/2.ts': "import '../c/3.ts';",
    'c/3.ts': "import '../d/4.ts';",
    'd/4.ts': "import '../c/3.ts';",
  });
  const arrows = drawGraph(graph)
    .split('\n')
    .filter((line) => line.includes('>'));
  assert.deepEqual(arrows, ['  a --> b', '  b --> c', '  c -.-> d', '  d -.-> c']);
});
