/** Rules for dependencies: pinned exactly, used by the package that declares them, each with its reason in a decision. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';

type Versions = Readonly<Record<string, string>>;

interface Manifest {
  readonly dependencies?: Versions;
  readonly devDependencies?: Versions;
  readonly optionalDependencies?: Versions;
  readonly peerDependencies?: Versions;
}

interface Package {
  /** Where its package.json is; "." for the root. */
  readonly folder: string;
  readonly manifest: Manifest;
  readonly sources: readonly { readonly file: string; readonly text: string }[];
}

const decision = readFileSync('docs/decisions/0008-dependencies.md', 'utf8');
const isOurs = (name: string) => name.startsWith('@slurm-operator/');
const isTest = (file: string) => /\.test\.ts$|\/(testing|testdata|bench|examples|generate)\//.test(file);

function packages(): Package[] {
  return globSync(['package.json', '*/package.json', 'packages/*/package.json'], {
    exclude: ['**/node_modules/**'],
  }).map((file) => {
    const folder = dirname(file);
    const found = folder === '.' ? [] : globSync(`${folder}/**/*.ts`, { exclude: ['**/node_modules/**'] });
    return {
      folder,
      manifest: JSON.parse(readFileSync(file, 'utf8')) as Manifest,
      sources: found.map((source) => ({ file: source, text: readFileSync(source, 'utf8') })),
    };
  });
}

const all = ({ manifest }: Package): Versions => ({
  ...manifest.peerDependencies,
  ...manifest.optionalDependencies,
  ...manifest.devDependencies,
  ...manifest.dependencies,
});

/** The packages that a source imports, types left out: those cost nothing at run time. */
function imported(text: string): string[] {
  const specifiers = [
    ...text.matchAll(/^(?:import|export)\b(?!\s+type\b)(?:[\w\s{},*$]*?\bfrom)?\s*'([^'.][^']*)'/gm),
    ...text.matchAll(/\bimport\('([^'.][^']*)'\)/g),
  ].map((match) => match[1] ?? '');
  return specifiers
    .filter((specifier) => !specifier.startsWith('node:'))
    .map((specifier) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/'));
}

/** Every breach in the given packages, as sentences. */
function breaches(given: readonly Package[], reasons: string): string[] {
  const found: string[] = [];
  const root = given.find(({ folder }) => folder === '.');
  for (const one of given) {
    for (const [name, version] of Object.entries(all(one))) {
      if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
        found.push(`${one.folder}: ${name} is "${version}", which is not one version`);
      if (!isOurs(name) && !reasons.includes(`\`${name}\``))
        found.push(`${one.folder}: ${name} is not named in docs/decisions/0008-dependencies.md`);
    }
    const uses = one.sources.flatMap(({ file, text }) => imported(text).map((name) => ({ file, name })));
    for (const name of Object.keys(one.manifest.dependencies ?? {}))
      if (!uses.some((use) => use.name === name && !isTest(use.file)))
        found.push(`${one.folder}: ${name} is a dependency, and no source imports it`);
    const declared = { ...all(one), ...root?.manifest.devDependencies };
    for (const { file, name } of uses) {
      if (isOurs(name) || name in declared) continue;
      found.push(`${file} imports ${name}, which ${one.folder}/package.json does not name`);
    }
    const atRunTime = { ...one.manifest.dependencies, ...one.manifest.optionalDependencies };
    for (const { file, name } of uses)
      if (!isOurs(name) && !isTest(file) && name in declared && !(name in atRunTime) && name !== 'esbuild')
        found.push(`${file} imports ${name}, which is there for development only`);
  }
  return [...new Set(found)];
}

test('dependencies are pinned, used, declared, and each has its reason', () => {
  assert.deepEqual(breaches(packages(), decision), []);
});

test('the decision names nothing that is gone', () => {
  const known = new Set(packages().flatMap((one) => Object.keys(all(one))));
  const named = [...decision.matchAll(/^\| ((?:`[^`]+`(?:, )?)+) \|/gm)].flatMap((row) =>
    [...(row[1] ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''),
  );
  assert.ok(named.length > 10, 'the tables were read');
  assert.deepEqual(
    named.filter((name) => !known.has(name)),
    [],
  );
});

test('detects planted violations', () => {
  const planted = (manifest: Manifest, text: string): Package => ({
    folder: 'packages/x',
    manifest,
    sources: [{ file: 'packages/x/src/a.ts', text }],
  });
  const of = (manifest: Manifest, text = '') => breaches([planted(manifest, text)], 'for `ws` and `pino`');
  assert.match(of({ devDependencies: { ws: '^8.0.0' } }).join(), /not one version/);
  assert.match(of({ devDependencies: { leftpad: '1.0.0' } }).join(), /not named in/);
  assert.match(of({ dependencies: { ws: '8.0.0' } }).join(), /no source imports it/);
  assert.match(of({}, "import { pino } from 'pino';").join(), /does not name/);
  assert.match(
    of({ devDependencies: { ws: '8.0.0' } }, "import ws from 'ws';").join(),
    /for development only/,
  );
  assert.deepEqual(of({ dependencies: { ws: '8.0.0' } }, "import {\n  WebSocket,\n} from 'ws';"), []);
  assert.deepEqual(of({}, "import type { Pod } from 'kubernetes-models/v1';"), []);
});
