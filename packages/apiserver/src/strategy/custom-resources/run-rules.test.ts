import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, Schema } from '../../schema/schema.ts';
import { runRules } from './run-rules.ts';

const keyed: Schema = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: {
    type: 'object',
    properties: {
      name: { type: 'string' },
      size: {
        type: 'integer',
        'x-kubernetes-validations': [{ rule: 'self >= oldSelf', message: 'may only grow' }],
      },
    },
  },
};
const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      'x-kubernetes-validations': [
        {
          rule: 'self.min <= self.max',
          fieldPath: '.max',
          reason: 'FieldValueRequired',
          messageExpression: "'at least ' + string(self.min)",
        },
      ],
      properties: { min: { type: 'integer' }, max: { type: 'integer' }, items: keyed },
    },
  },
};

function faults(value: Json, old?: Json): string[] {
  return runRules(value, schema, old).faults.map(({ field, message }) => `${field}: ${message}`);
}

test('a rule reports its own message for the field of its fieldPath', () => {
  assert.deepEqual(faults({ spec: { min: 2, max: 1 } }), ['spec.max: Required value: at least 2']);
});

test('a rule that cannot be evaluated is a fault of its own field, also where nothing changed', () => {
  const expected = ['spec: Invalid value: "object": no such key: max evaluating rule: self.min <= self.max'];
  assert.deepEqual(faults({ spec: { min: 2 } }), expected);
  assert.deepEqual(faults({ spec: { min: 2 } }, { spec: { min: 2 } }), expected);
});

test('transition rules follow an item by its key, not by its place', () => {
  const old = {
    spec: {
      min: 0,
      max: 1,
      items: [
        { name: 'a', size: 5 },
        { name: 'b', size: 1 },
      ],
    },
  };
  const moved = {
    spec: {
      min: 0,
      max: 1,
      items: [
        { name: 'b', size: 2 },
        { name: 'a', size: 5 },
        { name: 'c', size: 0 },
      ],
    },
  };
  assert.deepEqual(faults(moved, old), []);
  const shrunk = {
    spec: {
      min: 0,
      max: 1,
      items: [
        { name: 'b', size: 1 },
        { name: 'a', size: 4 },
      ],
    },
  };
  assert.deepEqual(faults(shrunk, old), ['spec.items[1].size: Invalid value: 4: may only grow']);
});

test('a broken part that was stored before is a warning, not a fault', () => {
  const broken = { spec: { min: 2, max: 1 } };
  const { faults: found, warnings } = runRules(broken, schema, structuredClone(broken));
  assert.deepEqual(found, []);
  assert.deepEqual(warnings, ['spec.max: Required value: at least 2']);
});
