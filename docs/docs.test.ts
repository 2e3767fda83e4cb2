/** The pages keep their promises: every reason has a row, every link leads somewhere, every edit of the example is told. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { reasons } from '@slurm-operator/api';

const page = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

test('every reason that a condition can have is in the troubleshooting table, and no other', () => {
  const table = page('troubleshooting.md').split('## By reason')[1] ?? '';
  const rows = [...table.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, reason = '']) => reason),
  );
  const known = Object.keys(reasons);
  const add = known.filter((reason) => !rows.includes(reason));
  assert.deepEqual(add, [], 'add a row for these to docs/troubleshooting.md: what to look at');
  assert.deepEqual(
    rows.filter((reason) => !known.includes(reason)),
    [],
    'no condition has these reasons',
  );
});

/** As headings become anchors. */
const anchor = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

test('every link of the documentation leads to a file, and to a heading where it names one', () => {
  const root = dirname(import.meta.dirname);
  const dead: string[] = [];
  for (const file of ['README.md', ...globSync('docs/**/*.md', { cwd: root })]) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [path = '', heading] = target.split('#');
      const to = path === '' ? join(root, file) : join(root, dirname(file), path);
      const found = existsSync(to);
      const headings = () =>
        [...readFileSync(to, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, words = '']) => anchor(words));
      if (!found || (heading !== undefined && !headings().includes(heading))) dead.push(`${file}: ${target}`);
    }
  }
  assert.deepEqual(dead, []);
});

test('every edit of the guide’s example is told, with its reason', () => {
  const lines = JSON.parse(
    readFileSync(new URL('../e2e/testdata/example/kubectl-lines.json', import.meta.url), 'utf8'),
  ) as { line: string; instead?: string; because?: string }[];
  const told = page('example.md');
  for (const { line, instead, because } of lines) {
    if (instead === undefined) continue;
    assert.ok(because !== undefined && because !== '', `${line} is edited without a reason`);
    assert.ok(told.includes(line.replaceAll('|', '\\|')), `docs/example.md does not tell of: ${line}`);
  }
});
