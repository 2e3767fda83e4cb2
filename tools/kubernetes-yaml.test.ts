/**
 * YAML that people give to kubectl or helm: both read it by the rules of YAML 1.1, where plain `yes`, `on` and `n` are
 * booleans and 010 is eight. Every file and every example must mean the same by both versions.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { readAllYaml } from '../packages/apiserver/src/decode/yaml-text.ts';
import { kubeconfig } from '../packages/apiserver/src/pki/credentials.ts';

const root = join(import.meta.dirname, '..');

/** Templates of charts become YAML only when helm fills them in; the golden files hold what they become. */
const notYaml = /^charts\/[^/]+\/templates\//;

function trackedFiles(...patterns: readonly string[]): string[] {
  return execFileSync('git', ['ls-files', '--', ...patterns], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && !notYaml.test(file));
}

/** The ```yaml blocks of a page. */
function examplesIn(page: string): string[] {
  return [...page.matchAll(/^( *)```ya?ml[^\n]*\n([^]*?)^ *```/gm)].map(([, indent = '', text = '']) =>
    text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
}

function differenceOf(text: string): string | undefined {
  const modern: unknown[] = parseAllDocuments(text, { merge: true }).map((document) => document.toJS());
  const asKubernetes = readAllYaml(text);
  try {
    assert.deepEqual(asKubernetes, modern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

test('the comparison finds what YAML 1.1 reads otherwise', () => {
  for (const text of ['a: yes', 'n: 1', 'a: on', 'a: 0600', '- y', 'a: 1_000'])
    assert.notEqual(differenceOf(text), undefined, text);
  for (const text of ['a: "yes"', "'n': 1", 'a: true', 'a: 384', '- x', 'a: 2001-01-01'])
    assert.equal(differenceOf(text), undefined, text);
});

for (const file of trackedFiles('*.yaml', '*.yml'))
  test(`${file} means the same to kubectl`, () => {
    const found = differenceOf(readFileSync(join(root, file), 'utf8'));
    assert.equal(
      found,
      undefined,
      `${file}: quote what YAML 1.1 takes for a boolean or an octal number: ${found}`,
    );
  });

for (const file of trackedFiles('*.md'))
  test(`the examples of ${file} mean the same to kubectl`, () => {
    for (const example of examplesIn(readFileSync(join(root, file), 'utf8'))) {
      const found = differenceOf(example);
      assert.equal(
        found,
        undefined,
        `${file}: quote what YAML 1.1 takes for a boolean: ${found}\n${example}`,
      );
    }
  });

test('a kubeconfig names its user as kubectl reads it', () => {
  for (const user of ['on', 'n', 'jane']) {
    const text = kubeconfig({ url: 'https://x', caPem: '', user, credentials: { token: 't' } });
    assert.equal(differenceOf(text), undefined, text);
  }
});

test('whatever writes YAML writes it for readers of version 1.1', () => {
  const careless = trackedFiles('*.ts').flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8');
    const name = /import \{[^}]*\bstringify(?: as (\w+))?\b[^}]*\} from 'yaml'/.exec(source);
    if (name === null) return [];
    const calls = source.split(new RegExp(`(?<!JSON\\.)\\b${name[1] ?? 'stringify'}\\(`)).slice(1);
    return calls.some((call) => !call.slice(0, 300).includes("version: '1.1'")) ? [file] : [];
  });
  assert.deepEqual(careless, [], "pass { version: '1.1' } to stringify");
});
