import assert from 'node:assert/strict';
import { test } from 'node:test';
import { regionsOf } from './regions.ts';

const parts = (source: string, kind: string) =>
  regionsOf(source)
    .filter((region) => region.kind === kind)
    .map(({ start, end }) => source.slice(start, end));

test('finds quoted strings with escapes, and comments', () => {
  const source = `const a = 'it\\'s'; // a 'comment'\nconst b = "x"; /* two\nlines */ const c = 1;`;
  assert.deepEqual(parts(source, 'string'), [`'it\\'s'`, '"x"']);
  assert.deepEqual(parts(source, 'comment'), [`// a 'comment'`, '/* two\nlines */']);
});

test('treats the code inside a template as code, however it is nested', () => {
  const source = '`a ${f({ b: `c ${d} e` })} g` + h';
  assert.deepEqual(parts(source, 'string'), ['`a ${', '`c ${', '} e`', '} g`']);
});

test('tells a regular expression from a division', () => {
  assert.deepEqual(parts(`x = a / b / c; y = /['"]/.test(z) ? 'q' : 'r'`, 'string'), [
    `/['"]/`,
    `'q'`,
    `'r'`,
  ]);
  assert.deepEqual(parts(`return /'/;`, 'string'), [`/'/`]);
});
