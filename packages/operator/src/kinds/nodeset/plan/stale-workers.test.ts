/** Two workers of one name: on the network of its machine a worker is called like that machine. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { kubeNode, now, observed, slurmNode, worker } from '../../../../testing/observed.ts';
import type { WorkerAction } from '../model/actions.ts';
import type { SlurmNode, Worker } from '../model/observed.ts';
import { planWorkers } from './plan-workers.ts';

const shared = { slurmName: 'w-1', nodeName: 'n1' };
const served = worker(1, shared);
const dead = {
  ...shared,
  phase: 'Failed',
  ready: false,
  containersDead: true,
  endedAt: now - 600_000,
} as const;
const ours = { flags: new Set(['DRAIN']), reason: 'slurm-operator: Pod (slurm/w-0) is pending termination' };
const busy = { base: 'ALLOCATED', deadline: now + 60_000 } as const;

function decide(workers: Worker[], node: Partial<SlurmNode>): readonly WorkerAction[] {
  return planWorkers(observed(workers, [slurmNode(1, node)]), now).actions.filter(
    ({ kind }) => kind !== 'mirror-state' && kind !== 'patch-worker',
  );
}

describe('a worker that has ended, whose name another one has by now', () => {
  for (const [reason, node] of [
    ['whatever work that one has', busy],
    ['also where it was drained for its sake', { ...ours, ...busy, slurmdStartedAt: undefined }],
  ] as const)
    test(`goes at once, and nothing is done to the node of the other, ${reason}`, () => {
      const actions = decide([worker(0, dead), served], node).filter(({ kind }) => kind !== 'undrain');
      assert.deepEqual(
        actions.map((action) => ({ ...action })),
        [
          {
            kind: 'delete-worker',
            name: 'w-0',
            uid: 'uid-0',
            slurmName: 'w-1',
            because: 'stale-worker',
            why: 'failed',
            resourceVersion: '1',
          },
        ],
      );
    });

  test('does not keep the other one drained', () => {
    assert.deepEqual(
      decide([worker(0, { ...dead, terminating: true }), served], ours).map(({ kind }) => kind),
      ['undrain'],
    );
  });

  test('is not stale where the other one has ended too, or was never started', () => {
    for (const other of [
      worker(1, dead),
      worker(1, { ...shared, everStarted: false, phase: 'Pending', ready: false }),
    ])
      assert.ok(!decide([worker(0, dead), other], busy).some(({ kind }) => kind === 'delete-worker'));
  });
});

test('a second worker for a machine, not yet placed, goes without a drain of the first', () => {
  const slot = { mode: 'DaemonSet', nodeName: 'n1' } as const;
  const second = worker(0, {
    ...shared,
    slot,
    nodeName: undefined,
    everStarted: false,
    phase: 'Pending',
    ready: false,
  });
  const first = worker(1, { ...shared, slot });
  const given = observed([second, first], [slurmNode(1, busy)], {
    scalingMode: 'DaemonSet',
    nodes: new Map([['n1', kubeNode('n1', { workerHostname: 'w-1' })]]),
  });
  const kinds = planWorkers(given, now).actions.map(({ kind }) => kind);
  assert.ok(kinds.includes('delete-worker') && !kinds.includes('drain'), String(kinds));
});

test('of two that run, the one that stays is not undrained before the other is gone', () => {
  const slot = { mode: 'DaemonSet', nodeName: 'n1' } as const;
  const [first, second] = [worker(1, { ...shared, slot }), worker(2, { ...shared, slot })];
  const given = observed([first, second], [slurmNode(1, { ...ours, ...busy, instanceId: second.uid })], {
    scalingMode: 'DaemonSet',
    nodes: new Map([['n1', kubeNode('n1', { workerHostname: 'w-1' })]]),
  });
  const kinds = planWorkers(given, now).actions.map(({ kind }) => kind);
  assert.ok(!kinds.includes('undrain') && !kinds.includes('delete-worker'), String(kinds));
});
