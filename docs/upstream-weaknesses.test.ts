/** The table of weaknesses names tests; each of them is there, under its file and its name. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
const rows = readFileSync(join(root, 'docs/upstream-weaknesses.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| \d/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()));

test('every number from 1 to 47 is in the table once', () => {
  const numbers = rows.flatMap(([, cell = '']) =>
    cell.split(',').flatMap((part) => {
      const [from = 0, to = from] = part.split('–').map(Number);
      return Array.from({ length: to - from + 1 }, (_, index) => from + index);
    }),
  );
  assert.deepEqual(
    numbers.toSorted((a, b) => a - b),
    Array.from({ length: 47 }, (_, index) => index + 1),
  );
});

test('every test that the table names exists', () => {
  const named = rows.flatMap(([, , , cell = '']) =>
    [...cell.matchAll(/`([^`]+\.test\.ts)`: (.+)$/g)].map(([, file = '', name = '']) => ({ file, name })),
  );
  assert.ok(named.length > 15);
  for (const { file, name } of named)
    assert.ok(readFileSync(join(root, file), 'utf8').includes(name), `${file} has no test "${name}"`);
});
