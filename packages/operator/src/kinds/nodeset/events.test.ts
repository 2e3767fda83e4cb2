import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventsFor } from './events.ts';
import type { WorkerAction } from './model/actions.ts';

const deleted = (name: string): WorkerAction => ({
  kind: 'delete-worker',
  name,
  uid: 'u',
  slurmName: name,
  because: 'drained',
  why: 'scale-in',
});

test('upstream item 41: events tell what was done, grouped, with reasons of one word', () => {
  const notes = eventsFor(
    [
      { kind: 'create-worker', slot: { mode: 'StatefulSet', ordinal: 0 } },
      deleted('w-1'),
      deleted('w-2'),
      { kind: 'drain', slurmName: 'w-3', reason: 'slurm-operator: x' },
    ],
    4,
  );
  assert.deepEqual(
    notes.map((note) => note.reason),
    ['ScalingUp', 'ScalingDown', 'SlurmNodeDrain'],
  );
  assert.equal(notes[1]?.note, 'Deleted w-1, w-2: its Slurm node is drained.');
  assert.ok(notes.every((note) => /^[A-Za-z]+$/.test(note.reason)));
  assert.deepEqual(
    eventsFor([{ kind: 'patch-worker', name: 'w', uid: 'u' }], 1),
    [],
    'bookkeeping is not news',
  );
});

test('a user’s drain is reported when it appears on the pod; a drain by the operator is not', () => {
  const mirrored = (message: string): WorkerAction => ({
    kind: 'mirror-state',
    name: 'w-0',
    uid: 'u',
    conditions: new Map([
      ['SlurmNodeStateIdle', message],
      ['SlurmNodeStateDrain', message],
    ]),
    over: [],
  });
  assert.deepEqual(
    eventsFor([mirrored('bad disk')], 1).map(({ type, reason, note }) => [
      type,
      reason,
      /bad disk/.test(note),
    ]),
    [['Warning', 'SlurmNodeDrainedByOthers', true]],
  );
  assert.deepEqual(eventsFor([mirrored('slurm-operator: Node (n) was cordoned')], 1), []);
  assert.deepEqual(eventsFor([mirrored('Pod is terminating')], 1), [], 'the hook of early upstream workers');
});
