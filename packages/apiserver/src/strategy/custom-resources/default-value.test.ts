import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Schema } from '../../schema/schema.ts';
import { defaultValue, pruneValue } from './default-value.ts';

const schema: Schema = {
  type: 'object',
  properties: {
    size: { type: 'integer', default: 3 },
    name: { type: 'string' },
    maybe: { type: 'string', default: 'x', nullable: true },
    deep: { type: 'object', default: {}, properties: { on: { type: 'boolean', default: false } } },
    list: { type: 'array', items: { type: 'object', properties: { n: { type: 'integer', default: 7 } } } },
    map: {
      type: 'object',
      additionalProperties: { type: 'object', properties: { n: { type: 'integer', default: 1 } } },
    },
    free: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { known: { type: 'object' } },
    },
    any: { 'x-kubernetes-preserve-unknown-fields': true },
  },
};

test('defaults are filled at every depth whose parent is there, and a default is never shared', () => {
  const [one, two] = [
    { list: [{}], map: { a: {} } } as Record<string, unknown>,
    {} as Record<string, unknown>,
  ];
  defaultValue(one as never, schema);
  defaultValue(two as never, schema);
  assert.deepEqual(one, { size: 3, maybe: 'x', deep: { on: false }, list: [{ n: 7 }], map: { a: { n: 1 } } });
  assert.deepEqual(two, { size: 3, maybe: 'x', deep: { on: false } });
  assert.notEqual(one['deep'], two['deep']);
});

test('null: filled, kept where it may be, dropped where it may not, left alone in what was applied', () => {
  const sent = { size: null, maybe: null, name: null };
  const decoded = { ...sent };
  defaultValue(decoded, schema);
  assert.deepEqual(decoded, { size: 3, maybe: null, deep: { on: false } });
  const applied = { ...sent };
  defaultValue(applied, schema, true);
  assert.deepEqual(applied, { size: 3, maybe: null, name: null, deep: { on: false } });
});

test('what the schema does not know goes, at every depth it does know', () => {
  const value = {
    size: 1,
    oops: 1,
    deep: { on: true, oops: 1 },
    list: [{ n: 1, oops: 1 }],
    free: { kept: { a: 1 }, known: { gone: 1 } },
    any: [{ kept: null }],
  };
  pruneValue(value, schema);
  assert.deepEqual(value, {
    size: 1,
    deep: { on: true },
    list: [{ n: 1 }],
    free: { kept: { a: 1 }, known: {} },
    any: [{ kept: null }],
  });
});

test('names that every object inherits are names like any other', () => {
  const value = { list: [], toString: 'gone', constructor: { a: 1 } } as Record<string, unknown>;
  pruneValue(value as never, schema);
  assert.deepEqual(Object.keys(value), ['list']);
});
