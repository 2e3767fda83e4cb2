/** The table of differences: every row names a test that exists, or a row of decision 0006. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const cells = (line: string) =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
const rows = read('docs/upstream-differences.md')
  .split('\n')
  .filter((line) => /^\| \d/.test(line))
  .map(cells);
const stated = new Set(
  read('docs/decisions/0006-differences-from-upstream.md')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => cells(line)[0]),
);

test('every number from 1 to 29 has a row', () => {
  const numbers = new Set(rows.map(([number]) => Number(number)));
  assert.deepEqual(
    [...numbers].toSorted((a, b) => a - b),
    Array.from({ length: 29 }, (_, index) => index + 1),
  );
});

for (const [number, difference = '', held = ''] of rows)
  test(`${number} ${difference}: the test exists, or decision 0006 has the row`, () => {
    const reason = /^stated: (.+)$/.exec(held)?.[1];
    const shown = /^`([^`]+)`: (.+)$/.exec(held);
    if (reason !== undefined) assert.ok(stated.has(reason), `decision 0006 has no row "${reason}"`);
    else {
      assert.ok(shown, `"${held}" is neither a test nor a stated difference`);
      const [, file = '', name = ''] = shown;
      assert.ok(read(file).includes(name), `${file} has no "${name}"`);
    }
  });

test('every row of decision 0006 has a row here', () => {
  const named = new Set(rows.map(([, , held = '']) => /^stated: (.+)$/.exec(held)?.[1]));
  assert.deepEqual(
    [...stated].filter((row) => row !== 'What' && !row?.startsWith('---') && !named.has(row)),
    [],
  );
});
