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

test('combines the entries of previous managers into one entry of ours', () => {
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

test('changes nothing after our first apply', () => {
  const ours = { ...theirs, manager: 'me', operation: 'Apply' };
  assert.equal(inheritFields([ours, theirs], from, 'me'), undefined);
});

test('does not change entries of users, of status, or of other appliers', () => {
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
