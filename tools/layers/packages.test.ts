/** The layer rule: dependencies point down only, and pure code stays pure. */
import assert from 'node:assert/strict';
import { dirname, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { isTest, readSources, type Source, source } from './sources.ts';

/** What each layer's sources may import from the others (tests and benchmarks may reach for more). */
const mayImport: Record<string, readonly string[]> = {
  'packages/kubernetes-values': [],
  'packages/kube': ['packages/kubernetes-values'],
  'packages/slurm': [],
  'packages/api': [],
  'packages/sandbox': [],
  'packages/apiserver': ['packages/kubernetes-values'],
  // The dashboard is one of its programs.
  'packages/operator': [
    'packages/kubernetes-values',
    'packages/kube',
    'packages/slurm',
    'packages/api',
    'packages/dashboard',
  ],
  'packages/advice': ['packages/kube', 'packages/slurm', 'packages/api'],
  // Of the operator only its pure entry `dry-run`.
  'packages/cli': [
    'packages/advice',
    'packages/dashboard',
    'packages/operator',
    'packages/kube',
    'packages/slurm',
    'packages/api',
  ],
  'packages/dashboard': ['packages/advice', 'packages/kube', 'packages/slurm', 'packages/api'],
  // The plugin of kubectl, which is in the operator's image.
  images: ['packages/sandbox', 'packages/cli', 'packages/dashboard'],
  localcluster: ['packages/kubernetes-values', 'packages/kube', 'packages/apiserver', 'packages/sandbox'],
  demo: [
    'packages/api',
    'packages/kube',
    'packages/operator',
    'packages/sandbox',
    'charts',
    'images',
    'localcluster',
  ],
};

/** Words that a layer must not know. */
const mustNotKnow: Record<string, RegExp> = {
  'packages/kubernetes-values': /slurm(?!-operator\/)|slinky/i,
  'packages/kube': /slurm(?!-operator\/)|slinky/i,
  'packages/apiserver': /slurm(?!-operator\/)|slinky/i,
  'packages/slurm': /kubernetes|kubectl|\bpods?\b/i,
};

/** Builders and plans are functions of their arguments: nothing that reads, waits, dials or rolls dice. */
const impure = /^(node:(fs|http|https|net|tls|child_process|dns|timers|process|os|worker_threads)(\/.*)?)$/;
const impureCalls =
  /\b(Date\.now\(|new Date\(\)|Math\.random\(|performance\.now\(|setTimeout\(|setInterval\(|process\.env)/;

const isPure = (file: string) =>
  /\/(objects|model|plan|autoscale|simulate|guard|render)\/|\/plan\.ts$|^packages\/advice\/src\//.test(
    file,
  ) && !isTest(file);

const sources = () =>
  readSources(['packages/*/{src,testing}/**/*.{ts,tsx}', '{localcluster,images,demo}/**/*.ts']);

function layerOf(file: string): string | undefined {
  return Object.keys(mayImport).find((layer) => file.startsWith(`${layer}/`));
}

function target(from: Source, specifier: string): string | undefined {
  if (specifier.startsWith('@slurm-operator/')) {
    const name = specifier.split('/')[1] ?? '';
    return ['localcluster', 'images', 'charts', 'demo'].includes(name) ? name : `packages/${name}`;
  }
  if (specifier.startsWith('.'))
    return layerOf(relative(process.cwd(), resolve(dirname(from.file), specifier)));
  return undefined;
}

/** Every breach of the layer rule in the given sources, as sentences. */
function breaches(all: readonly Source[]): string[] {
  const found: string[] = [];
  for (const each of all) {
    const layer = layerOf(each.file);
    if (layer === undefined) continue;
    if (!isTest(each.file)) {
      for (const specifier of each.imports) {
        const to = target(each, specifier);
        if (layer === 'packages/cli' && to === 'packages/operator' && !specifier.endsWith('/dry-run'))
          found.push(`${each.file} imports ${specifier}: of the operator packages/cli knows only dry-run`);
        if (to !== undefined && to !== layer && !mayImport[layer]?.includes(to))
          found.push(`${each.file} imports ${specifier}: ${layer} may not know ${to}`);
      }
      const word = mustNotKnow[layer]?.exec(each.text.replaceAll('slurm-operator', ''));
      if (word) found.push(`${each.file} says "${word[0]}", a word that ${layer} must not know`);
    }
    if (isPure(each.file)) {
      for (const specifier of each.imports)
        if (impure.test(specifier))
          found.push(`${each.file} imports ${specifier}: object builders and plans do no I/O`);
      const call = impureCalls.exec(each.text);
      if (call) found.push(`${each.file} uses ${call[0]}: pass time and chance in`);
    }
  }
  return found;
}

test('dependencies point down only, and object builders and plans do no I/O', () => {
  assert.deepEqual(breaches(sources()), []);
});

test('detects planted violations', () => {
  const found = breaches([
    source('packages/kube/src/a.ts', "import { drain } from '@slurm-operator/slurm';"),
    source('packages/slurm/src/b.ts', '// a pod of kubernetes'),
    source('packages/operator/src/kinds/nodeset/plan.ts', "import { readFile } from 'node:fs/promises';"),
    source('packages/operator/src/objects/c.ts', 'const at = Date.now();'),
  ]);
  assert.equal(found.length, 5);
});
