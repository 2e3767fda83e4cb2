/** Costs decide which definitions a real server accepts: they must be its figures, neither more nor less. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Schema } from '../schema/schema.ts';
import { compile } from './compile.ts';
import { schemaType } from './schema-types.ts';
import type { CelType } from './types.ts';

const self: Schema = {
  type: 'object',
  properties: {
    n: { type: 'integer' },
    s: { type: 'string', maxLength: 10 },
    word: { type: 'string', enum: ['a', 'abc'] },
    any: { type: 'string' },
    l: { type: 'array', maxItems: 100, items: { type: 'string', maxLength: 5 } },
    ll: { type: 'array', maxItems: 50, items: { type: 'array', maxItems: 10, items: { type: 'integer' } } },
    m: { type: 'object', maxProperties: 20, additionalProperties: { type: 'string', maxLength: 5 } },
    open: { type: 'object', additionalProperties: { type: 'string' } },
    q: { 'x-kubernetes-int-or-string': true },
    o: { type: 'object', properties: { a: { type: 'string', maxLength: 1 } } },
    at: { type: 'string', format: 'date-time' },
  },
};
const scope = new Map([['self', schemaType(self, false) as CelType]]);
const costOf = (rule: string): number => compile(rule, scope).cost;

const costs: readonly { readonly rule: string; readonly cost: number; readonly why: string }[] = [
  { rule: 'true', cost: 0, why: 'a constant is free' },
  { rule: 'has(self.s)', cost: 1, why: 'asking for presence costs the variable only' },
  { rule: 'self.n == 3', cost: 2, why: 'numbers of the schema have no size' },
  { rule: "self.s == 'abc'", cost: 3, why: 'the shorter side is read, a tenth per character' },
  { rule: 'self.o == self.o', cost: 4, why: 'objects have no size' },
  { rule: "self.s.startsWith('0123456789a')", cost: 4, why: 'the prefix is read' },
  { rule: "self.s.matches('^a+$')", cost: 2 + 5 * 1, why: '41 characters times a pattern of 4' },
  {
    rule: "self.s.contains('0123456789a')",
    cost: 2 + 4 * 2,
    why: 'both are read, one for each of the other',
  },
  { rule: 'self.l.all(x, true)', cost: 3 + 100 * 3, why: 'three per turn' },
  { rule: 'self.l.exists(x, true)', cost: 3 + 100 * 4, why: 'four per turn' },
  { rule: 'self.l.exists_one(x, true)', cost: 4 + 100 * 2, why: 'two per turn, and the count is compared' },
  { rule: 'self.ll.all(x, x.all(y, true))', cost: 3 + 50 * (3 + 2 + 10 * 3), why: 'loops multiply' },
  { rule: 'self.l.map(x, x).size() > 0', cost: 2 + 11 + 100 * 13 + 2, why: 'a new list per turn' },
  { rule: "self.m.all(k, k.matches('^a+$'))", cost: 3 + 20 * (3 + 2), why: 'keys of a map have no size' },
  { rule: "self.m.all(k, self.m[k] != 'ab')", cost: 3 + 20 * (3 + 5), why: 'values of a map are sized' },
  { rule: "self.word in ['a', 'b']", cost: 2 + 10 + 2, why: 'a list is searched' },
  { rule: "'a' in self.m", cost: 3, why: 'a map is not searched' },
  { rule: 'self.s.lowerAscii() == self.s', cost: 2 + 4 + 2 + 4, why: 'the result is as long as the text' },
  { rule: "duration('1h') > duration('1m')", cost: 3, why: 'durations are compared in one step' },
  { rule: 'self.at == self.at', cost: 4 + 4, why: 'a time is as long as its text' },
  { rule: "(self.n > 0 ? self.s : 'ab') == self.s", cost: 3 + 2 + 2 + 4, why: 'the dearer branch counts' },
  {
    rule: 'type(self.q) == string',
    cost: 2 + 1 + 1,
    why: 'types are compared as the root, which has no size',
  },
];

for (const { rule, cost, why } of costs)
  test(`${rule} costs ${cost}: ${why}`, () => assert.equal(costOf(rule), cost));

test('what has no bound costs more than any budget', () => {
  const limit = 10_000_000;
  for (const rule of [
    'string(self.n) == self.any + self.any',
    "self.?any.orValue('').matches(self.any)",
    'self.open.all(k, self.open.exists(j, self.open[j] == self.open[k]))',
    "'n ' + string(self.n) != self.any",
  ])
    assert.ok(costOf(rule) > limit / 100, `${rule} costs ${costOf(rule)}`);
  assert.ok(costOf("'x' + string(self.n) == string(self.n)") > limit, 'the size of a made text is not known');
});
