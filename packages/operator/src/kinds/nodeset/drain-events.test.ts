import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubeNode, observed, worker } from '../../../testing/observed.ts';
import { drainEvents } from './events.ts';
import type { WorkerAction } from './model/actions.ts';

const one = worker(0);
const facts = observed([one], [], { nodes: new Map([[one.nodeName ?? '', kubeNode(one.nodeName ?? '')]]) });
const mirrored = (reason: string | undefined, over: readonly string[] = []): WorkerAction => ({
  kind: 'mirror-state',
  name: one.name,
  uid: one.uid,
  conditions: new Map(reason === undefined ? [] : [['SlurmNodeStateDrain', reason]]),
  over,
});
const told = (action: WorkerAction, nodeEvents = true) =>
  drainEvents([action], facts, { nodeEvents }).map(({ type, reason, note, regarding }) => [
    regarding?.kind,
    regarding?.metadata.name,
    type,
    reason,
    note,
  ]);

test('a drain by anyone is an event on the pod and on its Node', () => {
  const note = 'Slurm node w-0 was drained: bad disk';
  assert.deepEqual(told(mirrored('bad disk')), [
    ['Pod', 'w-0', 'Warning', 'SlurmNodeDrainedByOthers', note],
    ['Node', one.nodeName, 'Warning', 'SlurmNodeDrainedByOthers', note.replace('w-0', 'w-0 (pod slurm/w-0)')],
  ]);
  assert.deepEqual(
    told(mirrored('slurm-operator: Node (n) was cordoned')).map(([kind, , type, reason]) => [
      kind,
      type,
      reason,
    ]),
    [
      ['Pod', 'Normal', 'SlurmNodeDrain'],
      ['Node', 'Normal', 'SlurmNodeDrain'],
    ],
  );
});

test('so is its end, and nothing else is', () => {
  assert.deepEqual(
    told(mirrored(undefined, ['SlurmNodeStateDrain'])).map(([kind, , , reason, note]) => [
      kind,
      reason,
      note,
    ]),
    [
      ['Pod', 'SlurmNodeUndrain', 'Slurm node w-0 is no longer drained.'],
      ['Node', 'SlurmNodeUndrain', 'Slurm node w-0 (pod slurm/w-0) is no longer drained.'],
    ],
  );
  assert.deepEqual(told(mirrored(undefined, ['SlurmNodeStateIdle'])), []);
});

test('an operator that may not write events of Nodes writes those of pods', () => {
  assert.deepEqual(
    told(mirrored('bad disk'), false).map(([kind]) => kind),
    ['Pod'],
  );
});

test('a drain of thousands makes at most a hundred events at once', () => {
  const many = Array.from({ length: 5_000 }, () => mirrored('rack 7'));
  assert.equal(drainEvents(many, facts, { nodeEvents: true }).length, 100);
});
