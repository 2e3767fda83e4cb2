import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, Schema } from '../../schema/schema.ts';
import { validateLists } from './validate-lists.ts';
import { validateValue } from './validate-value.ts';

function texts(value: Json, schema: Schema, old?: Json): string[] {
  return validateValue(value, schema, old).map(({ field, message }) => `${field}: ${message}`);
}

const spec = (property: Schema): Schema => ({ type: 'object', properties: { x: property } });

const cases: readonly { reason: string; schema: Schema; value: Json; want: readonly string[] }[] = [
  { reason: 'a fitting value', schema: spec({ type: 'integer' }), value: { x: 1 }, want: [] },
  {
    reason: 'null where null may not be',
    schema: spec({ type: 'string' }),
    value: { x: null },
    want: ['x: Invalid value: "null": x in body must be of type string: "null"'],
  },
  {
    reason: 'null where it may',
    schema: spec({ type: 'string', nullable: true }),
    value: { x: null },
    want: [],
  },
  {
    reason: 'an int-or-string that is neither',
    schema: spec({ 'x-kubernetes-int-or-string': true }),
    value: { x: true },
    want: ['x: Invalid value: "boolean": x in body must be of type integer,string: "boolean"'],
  },
  {
    reason: 'a length counted in characters, not bytes',
    schema: spec({ type: 'string', maxLength: 2 }),
    value: { x: 'äö' },
    want: [],
  },
  {
    reason: 'too few properties',
    schema: spec({ type: 'object', minProperties: 1, additionalProperties: { type: 'string' } }),
    value: { x: {} },
    want: ['x: Invalid value: 0: x in body should have at least 1 properties'],
  },
  {
    reason: 'a value of a map, named by its key',
    schema: spec({ type: 'object', additionalProperties: { type: 'string', minLength: 1 } }),
    value: { x: { k: '' } },
    want: ['x.k: Invalid value: "": x.k in body should be at least 1 chars long'],
  },
  {
    reason: 'an exclusive maximum',
    schema: spec({ type: 'number', maximum: 2, exclusiveMaximum: true }),
    value: { x: 2 },
    want: ['x: Invalid value: 2: x in body should be less than 2'],
  },
  {
    reason: 'anyOf without a match reports the first alternative',
    schema: { ...spec({ type: 'string' }), anyOf: [{ required: ['y'] }, { required: ['z'] }] },
    value: {},
    want: ['<nil>: Invalid value: "": "" must validate at least one schema (anyOf)', 'y: Required value'],
  },
  {
    reason: 'not',
    schema: { ...spec({ type: 'string' }), not: { required: ['x'] } },
    value: { x: 'a' },
    want: ['<nil>: Invalid value: "": "" must not validate the schema (not)'],
  },
  {
    reason: 'an embedded resource names its kind',
    schema: spec({ type: 'object', 'x-kubernetes-embedded-resource': true }),
    value: { x: { kind: 'Pod' } },
    want: ['x.apiVersion: Required value'],
  },
];

for (const { reason, schema, value, want } of cases)
  test(`schema: ${reason}`, () => assert.deepEqual(texts(value, schema), want));

test('what was stored before may stay as long as it is not touched', () => {
  const schema = spec({
    type: 'object',
    properties: { n: { type: 'integer', maximum: 5 }, s: { type: 'string' } },
  });
  const stored = { x: { n: 9, s: 'a' } };
  assert.deepEqual(texts({ x: { n: 9, s: 'b' } }, schema, stored), []);
  assert.equal(texts({ x: { n: 8, s: 'a' } }, schema, stored).length, 1);
});

test('only items of keyed lists are known to be the same as before', () => {
  const items: Schema = {
    type: 'object',
    properties: { name: { type: 'string' }, n: { type: 'integer', maximum: 5 } },
  };
  const keyed: Schema = {
    type: 'array',
    items,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
  };
  const old = { x: [{ name: 'a', n: 9 }] };
  const next = {
    x: [
      { name: 'b', n: 1 },
      { name: 'a', n: 9 },
    ],
  };
  assert.deepEqual(texts(next, spec(keyed), old), []);
  assert.equal(texts(next, spec({ type: 'array', items }), old).length, 1);
});

test('a set holds nothing twice, a keyed list no key twice', () => {
  const schema = spec({ type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' });
  assert.deepEqual(validateLists({ x: ['a', 'b', 'a'] }, schema), [
    { reason: 'FieldValueDuplicate', field: 'x[2]', message: 'Duplicate value: "a"' },
  ]);
  assert.deepEqual(validateLists({ x: ['a', 'a'] }, schema, { x: ['a', 'a'] }), []);
});

test('whole numbers are exact within int64; what is beyond, or was written as a fraction, is no integer', () => {
  const int64: Schema = { type: 'integer', format: 'int64', maximum: 2 ** 62 };
  assert.deepEqual(texts({ x: 2n ** 60n + 1n }, spec(int64)), []);
  assert.equal(texts({ x: 2n ** 62n + 1n }, spec(int64)).length, 1);
  assert.deepEqual(texts({ x: 2 ** 63 }, spec({ type: 'integer', format: 'int64' })), [
    'x: Invalid value: "float64": x in body must be of type int64: "float64"',
    '<nil>: Invalid value: "": Checked value must be of type integer with format int64 in x',
  ]);
});

test('of length and pattern the first that fails is told', () => {
  const schema: Schema = { type: 'string', maxLength: 2, pattern: '^a+$' };
  assert.deepEqual(texts({ x: 'bbb' }, spec(schema)), ['x: Too long: may not be more than 2 bytes']);
});
