import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Schema } from '../schema/schema.ts';
import { dropUnknownFields, typeFault } from './typed-fields.ts';

const item: Schema = {
  type: 'object',
  'x-type-name': 'V1Item',
  properties: { name: { type: 'string' }, count: { type: 'integer', format: 'int32' } },
};
const schema: Schema = {
  type: 'object',
  'x-type-name': 'V1Thing',
  properties: {
    data: { type: 'object', additionalProperties: { type: 'string' } },
    items: { type: 'array', items: item },
    free: { 'x-kubernetes-preserve-unknown-fields': true },
  },
};

test('unknown fields go, at any depth, and are named in order', () => {
  const object = { bogus: 1, data: { any: 'x' }, items: [{ name: 'a', odd: 1 }], free: { kept: { too: 1 } } };
  assert.deepEqual(dropUnknownFields(object, schema, false), ['bogus', 'items[0].odd']);
  assert.deepEqual(object, { data: { any: 'x' }, items: [{ name: 'a' }], free: { kept: { too: 1 } } });
});

test('in the schema of a definition an object without properties has no fields', () => {
  const closed: Schema = { type: 'object', properties: { o: { type: 'object' } } };
  assert.deepEqual(dropUnknownFields({ o: { a: 1 } }, closed, true), ['o.a']);
  assert.deepEqual(dropUnknownFields({ o: { a: 1 } }, closed, false), []);
});

const faults: readonly [object: Record<string, unknown>, fault: string | undefined][] = [
  [{ data: { a: 1 } }, 'json: cannot unmarshal number into Go struct field Thing.data of type string'],
  [{ data: 'x' }, 'json: cannot unmarshal string into Go struct field Thing.data of type map[string]string'],
  [{ items: {} }, 'json: cannot unmarshal object into Go struct field Thing.items of type []v1.Item'],
  [
    { items: [{ count: 1.5 }] },
    'json: cannot unmarshal number 1.5 into Go struct field Item.items.count of type int32',
  ],
  [
    { items: [{ name: true }] },
    'json: cannot unmarshal bool into Go struct field Item.items.name of type string',
  ],
  [{ data: null, items: [null], free: 3 }, undefined],
];
for (const [object, fault] of faults)
  test(`${JSON.stringify(object)}: ${fault ?? 'fits'}`, () => assert.equal(typeFault(object, schema), fault));
