import assert from 'node:assert/strict';
import { test } from 'node:test';
import { regexpFault } from './regexp-syntax.ts';

const readable = [
  '',
  '^[a-z]([-a-z0-9]*[a-z0-9])?$',
  '^(a|b)+?c{2,5}[^]x]{3}$',
  '(?i)abc(?:d)(?P<name>e)(?<other>f)',
  '\\d+\\.\\w*\\s\\b\\x41\\x{1F600}\\pL\\p{Greek}\\/\\-',
  '[[:alpha:]_\\-.]',
  'a{,2}{x',
  '\\Q(a*\\E',
  '^$|x',
];

const refused: readonly [pattern: string, why: string][] = [
  ['(', 'missing closing ): `(`'],
  ['a)', 'unexpected ): `a)`'],
  ['x[a-', 'missing closing ]: `[a-`'],
  ['[]', 'missing closing ]: `[]`'],
  ['[b-a]', 'invalid character class range: `b-a`'],
  ['*a', 'missing argument to repetition operator: `*`'],
  ['a|+', 'missing argument to repetition operator: `+`'],
  ['a**', 'invalid nested repetition operator: `**`'],
  ['a{1001}', 'invalid repeat count: `{1001}`'],
  ['a{3,2}', 'invalid repeat count: `{3,2}`'],
  ['^(?!kube-)', 'invalid or unsupported Perl syntax: `(?!`'],
  ['(?=x)', 'invalid or unsupported Perl syntax: `(?=`'],
  ['(?<=x)y', 'invalid named capture: `(?<=x)y`'],
  ['(a)\\1', 'invalid escape sequence: `\\1`'],
  ['\\u0041', 'invalid escape sequence: `\\u`'],
  ['a\\', 'trailing backslash at end of expression: ``'],
];

for (const pattern of readable)
  test(`reads ${JSON.stringify(pattern)}`, () => assert.equal(regexpFault(pattern), undefined));

for (const [pattern, why] of refused)
  test(`refuses ${JSON.stringify(pattern)}`, () =>
    assert.equal(regexpFault(pattern), `error parsing regexp: ${why}`));
