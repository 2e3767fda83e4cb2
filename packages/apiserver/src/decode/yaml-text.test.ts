import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readYaml, YamlSyntaxError } from './yaml-text.ts';

const valueOf = (scalar: string) => (readYaml(`a: ${scalar}\n`).value as { a: unknown }).a;

describe('plain scalars are read as YAML 1.1 without dates and base 60', () => {
  const cases: readonly (readonly [string, unknown])[] = [
    ['yes', true],
    ['On', true],
    ['y', true],
    ['no', false],
    ['OFF', false],
    ['n', false],
    ['"yes"', 'yes'],
    ['~', null],
    ['010', 8],
    ['0x1f', 31],
    ['1_000', 1000],
    ['1.50', 1.5],
    ['9007199254740993', 9007199254740993n],
    ['1:30', '1:30'],
    ['2001-01-01', '2001-01-01'],
    ['2001-01-01T00:00:00Z', '2001-01-01T00:00:00Z'],
  ];
  for (const [text, value] of cases) test(text, () => assert.deepEqual(valueOf(text), value));
});

test('only the first document is read, and an empty one is null', () => {
  assert.deepEqual(readYaml('a: 1\n---\na: 2\n').value, { a: 1 });
  assert.equal(readYaml('').value, null);
});

test('aliases and merge keys are resolved', () => {
  assert.deepEqual(readYaml('x: &x {a: 1}\nz:\n  <<: *x\n  b: 2\n').value, {
    x: { a: 1 },
    z: { a: 1, b: 2 },
  });
});

test('a plain key n or 1 becomes the text of what it is read as', () => {
  assert.deepEqual(readYaml('n: 1\n1: 2\n').value, { false: 1, 1: 2 });
});

test('a key given twice is reported with its line, and the last one counts', () => {
  assert.deepEqual(readYaml('d:\n  a: "1"\n  a: "2"\n'), {
    value: { d: { a: '2' } },
    duplicates: ['line 3: key "a" already set in map'],
  });
});

test('a tab as indentation is refused with its line', () => {
  assert.throws(
    () => readYaml('a:\n\tb: 1\n'),
    new YamlSyntaxError('yaml: line 2: found character that cannot start any token'),
  );
});
