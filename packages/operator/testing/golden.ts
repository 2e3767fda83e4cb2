/** Compares built objects with files that were reviewed once. `UPDATE_GOLDEN=1` writes them again. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';

const root = join(import.meta.dirname, '../testdata/golden');

export function assertGolden(name: string, objects: readonly object[] | string): void {
  const text =
    typeof objects === 'string'
      ? objects
      : objects
          .map((object) =>
            stringify(object, {
              version: '1.1',
              lineWidth: 0,
              aliasDuplicateObjects: false,
              sortMapEntries: false,
            }),
          )
          .join('---\n');
  const file = join(root, name);
  if (process.env['UPDATE_GOLDEN'] === '1') {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  let expected: string;
  try {
    expected = readFileSync(file, 'utf8');
  } catch {
    assert.fail(
      `there is no golden file ${name}: run the test once with UPDATE_GOLDEN=1 and review what it wrote`,
    );
  }
  assert.equal(text, expected, `${name} differs: review the difference, then run with UPDATE_GOLDEN=1`);
}
