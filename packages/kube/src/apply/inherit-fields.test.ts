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

test('what a predecessor wrote becomes ours, united with what was ours already', () => {
  const ours = {
    ...theirs,
    manager: 'me',
    operation: 'Apply',
    fieldsV1: { 'f:spec': { 'f:selector': { '.': {}, 'f:new': {} } } },
  };
  assert.deepEqual(inheritFields([theirs, ours], from, 'me'), [
    { ...ours, fieldsV1: { 'f:spec': { 'f:selector': { '.': {}, 'f:old': {}, 'f:new': {} } } } },
  ]);
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
