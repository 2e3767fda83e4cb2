import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideDeletion } from './deletion.ts';

const row = { deletionPolicy: 'Delete', applied: { name: 'low' }, slurm: 'known', rowExists: true } as const;

test('a row that the object wrote is deleted with it, if it says so', () => {
  assert.equal(decideDeletion(row), 'Delete');
  assert.equal(decideDeletion({ ...row, rowExists: false }), 'Release');
  assert.equal(decideDeletion({ ...row, deletionPolicy: 'Orphan' }), 'Release');
});

test('a row that was not adopted stays', () => {
  assert.equal(decideDeletion({ ...row, applied: undefined }), 'Release');
});

test('deletion waits for a Slurm that does not respond, and not for one that is gone', () => {
  assert.equal(decideDeletion({ ...row, slurm: 'unknown' }), 'Wait');
  assert.equal(decideDeletion({ ...row, slurm: 'gone' }), 'Release');
});
