import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WordRule } from './find-words.ts';
import { countFindings, risenFindings, total } from './ratchet.ts';
import { areaOf, readRules, scanFile } from './scan-repository.ts';

const rules: WordRule[] = [{ words: ['anew'], write: 'again' }];
const scan = (file: string, text: string) => scanFile(file, text, rules);

test('strings of programs and all documentation are user-visible; comments, names and tests are not', () => {
  const source = "const anew = 'start anew'; // anew\n";
  const visible = (file: string) => scan(file, source).filter(({ isVisible }) => isVisible).length;
  assert.equal(visible('packages/operator/src/x.ts'), 1);
  assert.equal(visible('packages/operator/src/x.test.ts'), 0);
  assert.equal(visible('docs/x.md'), 3);
});

test('an identifier counts once in its area, and a path of a module does not', () => {
  const text = "import { startAnew } from './start-anew.ts';\nstartAnew(); startAnew(); listAnew();\n";
  const findings = [...scan('e2e/a.ts', text), ...scan('e2e/b.ts', text), ...scan('tools/c.ts', text)];
  assert.deepEqual(countFindings(findings), { e2e: { anew: 2 }, tools: { anew: 2 } });
});

test('a file name counts', () => {
  assert.deepEqual(scan('packages/kube/src/list-anew.ts', ''), [
    { file: 'packages/kube/src/list-anew.ts', line: 1, word: 'anew', write: 'again', isVisible: false },
  ]);
});

test('reports every place of a word that occurs more often than committed, and no other', () => {
  const findings = [
    ...scan('docs/a.md', 'anew'),
    ...scan('docs/b.md', '\nanew'),
    ...scan('e2e/c.ts', '// anew'),
  ];
  const committed = { 'visible docs': { anew: 1 }, e2e: { anew: 1 } };
  assert.deepEqual(
    risenFindings(findings, committed).map(({ file, line }) => `${file}:${line}`),
    ['docs/a.md:1', 'docs/b.md:2'],
  );
  assert.deepEqual(risenFindings(findings, { ...committed, 'visible docs': { anew: 2 } }), []);
});

test('a word may move to another area, but not from other text into user-visible text', () => {
  const findings = scan('docs/a.md', 'anew');
  assert.deepEqual(risenFindings(findings, { 'visible charts': { anew: 1 } }), []);
  assert.equal(risenFindings(findings, { docs: { anew: 1 } }).length, 1);
});

test('counts are per area and word', () => {
  const counts = countFindings([...scan('docs/a.md', 'anew anew'), ...scan('README.md', 'anew')]);
  assert.deepEqual(counts, { 'visible (root)': { anew: 1 }, 'visible docs': { anew: 2 } });
  assert.equal(total(counts['visible docs']), 2);
});

test('areas are packages and top-level folders', () => {
  assert.deepEqual(['packages/kube/src/a.ts', 'docs/a.md', 'README.md'].map(areaOf), [
    'packages/kube',
    'docs',
    '(root)',
  ]);
});

test('every rule of the list names words in lower case and what to write instead, each word once', () => {
  const words = readRules().flatMap((rule) => rule.words);
  assert.deepEqual(
    words.filter((word) => !/^[a-z]+(?: [a-z]+)*$/.test(word)),
    [],
  );
  assert.equal(new Set(words).size, words.length);
  assert.ok(readRules().every(({ write }) => write !== ''));
});
