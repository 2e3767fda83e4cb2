import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inheritFields } from './inherit-fields.ts';

const theirs = {
  manager: 'manager',
  operation: 'Update',
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': { 'f:selector': { 'f:old': {} } } },
};
const from = new Set(['manager']);

test('what predecessors wrote becomes ours, as one', () => {
  const older = {
    ...theirs,
    manager: 'operator',
    fieldsV1: { 'f:spec': { 'f:selector': { '.': {}, 'f:older': {} } } },
  };
  assert.deepEqual(inheritFields([theirs, older], new Set(['manager', 'operator']), 'me'), [
    {
      ...theirs,
      manager: 'me',
      operation: 'Apply',
      fieldsV1: { 'f:spec': { 'f:selector': { '.': {}, 'f:old': {}, 'f:older': {} } } },
    },
  ]);
});

test('once we have applied, what others of that name write is theirs', () => {
  const ours = { ...theirs, manager: 'me', operation: 'Apply' };
  assert.equal(inheritFields([ours, theirs], from, 'me'), undefined);
});

test('people’s fields, statuses and other appliers are left alone', () => {
  const others = [
    { ...theirs, manager: 'kubectl-edit' },
    { ...theirs, subresource: 'status' },
    { ...theirs, manager: 'manager', operation: 'Apply' },
  ];
  assert.equal(inheritFields(others, from, 'me'), undefined);
  assert.deepEqual(inheritFields([...others, theirs], from, 'me'), [
    ...others,
    { ...theirs, manager: 'me', operation: 'Apply' },
  ]);
});
