import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobChanges } from './job-changes.ts';

test('added, changed, ended, removed', () => {
  const first = jobChanges(new Map(), [
    { id: '1', state: ['RUNNING'] },
    { id: '2', state: ['PENDING'] },
    { id: '3', state: ['COMPLETED'] },
  ]);
  assert.deepEqual(
    first.changes.map((change) => `${change.type} ${change.id}`),
    ['added 1', 'added 2', 'added 3'],
  );
  const { changes, states } = jobChanges(first.states, [
    { id: '1', state: ['COMPLETED', 'COMPLETING'] },
    { id: '2', state: ['PENDING'] },
  ]);
  assert.deepEqual(changes, [
    { type: 'changed', id: '1', state: ['COMPLETED', 'COMPLETING'], before: ['RUNNING'], ended: false },
    { type: 'removed', id: '3', before: ['COMPLETED'] },
  ]);
  assert.equal(states.get('2'), first.states.get('2'), 'kept as it was');
  const last = jobChanges(states, [
    { id: '1', state: ['COMPLETED'] },
    { id: '2', state: ['PENDING'] },
  ]);
  assert.deepEqual(last.changes, [
    { type: 'changed', id: '1', state: ['COMPLETED'], before: ['COMPLETED', 'COMPLETING'], ended: true },
  ]);
});

test('the order of flags is no change', () => {
  const { states } = jobChanges(new Map(), [{ id: '1', state: ['RUNNING', 'SIGNALING'] }]);
  assert.deepEqual(jobChanges(states, [{ id: '1', state: ['SIGNALING', 'RUNNING'] }]).changes, []);
});
