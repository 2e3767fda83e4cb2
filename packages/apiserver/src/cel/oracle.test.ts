/** Compares random expressions with an independent implementation of the language. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Environment } from '@marcbachmann/cel-js';
import fc from 'fast-check';
import { compile } from './compile.ts';
import { CelRuntimeError } from './errors.ts';
import type { CelValue } from './values.ts';

const { int, bool, string, list } = fc.letrec<{ int: string; bool: string; string: string; list: string }>(
  (tie) => ({
    int: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.integer({ min: -9, max: 9 }).map((value) => (value < 0 ? `(${value})` : String(value))),
      fc
        .tuple(tie('int'), fc.constantFrom('+', '-', '*', '/', '%'), tie('int'))
        .map(([a, op, b]) => `(${a} ${op} ${b})`),
      tie('string').map((text) => `size(${text})`),
      tie('list').map((items) => `size(${items})`),
      fc.tuple(tie('bool'), tie('int'), tie('int')).map(([c, a, b]) => `(${c} ? ${a} : ${b})`),
    ),
    bool: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom('true', 'false'),
      fc
        .tuple(tie('int'), fc.constantFrom('<', '<=', '>', '>=', '==', '!='), tie('int'))
        .map(([a, op, b]) => `(${a} ${op} ${b})`),
      fc
        .tuple(tie('string'), fc.constantFrom('==', '!=', '<'), tie('string'))
        .map(([a, op, b]) => `(${a} ${op} ${b})`),
      fc
        .tuple(tie('bool'), fc.constantFrom('&&', '||'), tie('bool'))
        .map(([a, op, b]) => `(${a} ${op} ${b})`),
      tie('bool').map((value) => `!${value}`),
      fc.tuple(tie('int'), tie('list')).map(([a, items]) => `(${a} in ${items})`),
      fc
        .tuple(
          tie('list'),
          fc.constantFrom('all', 'exists', 'exists_one'),
          fc.constantFrom('<', '>', '=='),
          tie('int'),
        )
        .map(([items, macro, op, b]) => `${items}.${macro}(x, x ${op} ${b})`),
      fc
        .tuple(tie('string'), fc.constantFrom('startsWith', 'endsWith', 'contains'), tie('string'))
        .map(([a, name, b]) => `${a}.${name}(${b})`),
    ),
    string: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom("''", "'a'", "'ab'", '"b"', "'ä'"),
      fc.tuple(tie('string'), tie('string')).map(([a, b]) => `(${a} + ${b})`),
      tie('int').map((value) => `string(${value})`),
    ),
    list: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.array(tie('int'), { minLength: 1, maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
      fc.tuple(tie('list'), tie('list')).map(([a, b]) => `(${a} + ${b})`),
      tie('list').map((items) => `${items}.map(x, x * 2)`),
      tie('list').map((items) => `${items}.filter(x, x > 0)`),
    ),
  }),
);

const environment = new Environment();

/** The value as text, or that there is none. */
function ours(source: string): string {
  try {
    return show(compile(source, new Map()).run(new Map()));
  } catch (error) {
    if (error instanceof CelRuntimeError) return 'error';
    throw error;
  }
}

function theirs(source: string): string {
  try {
    return show(environment.evaluate(source, {}) as CelValue);
  } catch {
    return 'error';
  }
}

function show(value: CelValue): string {
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`;
  return typeof value === 'object' ? 'neither number, text, truth nor list' : String(value);
}

test('both implementations agree on numbers, texts, lists, logic and loops', () => {
  fc.assert(
    fc.property(fc.oneof(int, bool, string, list), (source) => {
      assert.equal(ours(source), theirs(source), source);
    }),
    { numRuns: 80 },
  );
});
