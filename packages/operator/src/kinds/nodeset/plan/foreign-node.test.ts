/** Law L15: a Slurm node is a worker's only if it says so. What is not is never drained, undrained, set down, changed or deleted. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { now, observed, slurmNode, worker } from '../../../../testing/observed.ts';
import type { Observed, SlurmNode, Worker } from '../model/observed.ts';
import { nodeSetStatus } from '../status/status.ts';
import { planWorkers } from './plan-workers.ts';

/** A static or external node, or a worker of another NodeSet, under the name of this worker. */
const foreign: Partial<SlurmNode> = {
  ours: false,
  comment: '',
  instanceId: undefined,
  address: '192.0.2.9',
  slurmdStartedAt: now - 3_600_000,
};
const drained: Partial<SlurmNode> = { flags: new Set(['DRAIN']), reason: 'slurm-operator: earlier' };
const going = { cordoned: true, cordonCause: 'scale-in' } as const;

const slurmActions = (given: Observed) =>
  planWorkers(given, now).actions.filter((action) => 'slurmName' in action || action.kind === 'mirror-state');

describe('a node of this name that is not the worker’s is left alone', () => {
  const cases: readonly [
    what: string,
    worker: Partial<Worker>,
    node: Partial<SlurmNode>,
    over: Partial<Observed>,
  ][] = [
    ['when the worker is scaled in', {}, foreign, { replicas: 0 }],
    ['when it is drained and the worker is scaled in', going, { ...foreign, ...drained }, { replicas: 0 }],
    ['when the worker is cordoned', { cordoned: true }, foreign, {}],
    ['when it is drained with our words and the worker serves', {}, { ...foreign, ...drained }, {}],
    [
      'when it is busy and the containers of the worker ended',
      { phase: 'Failed', ready: false, containersDead: true, endedAt: now },
      { ...foreign, ...drained, base: 'ALLOCATED' },
      {},
    ],
    [
      'when it started in the moment of the worker',
      {},
      { ...foreign, slurmdStartedAt: now - 3_600_000 + 1_000 },
      {},
    ],
    ['when another pod registered it', {}, { ...foreign, instanceId: 'uid-of-another' }, {}],
  ];
  for (const [what, w, node, over] of cases)
    test(what, () =>
      assert.deepEqual(slurmActions(observed([worker(0, w)], [slurmNode(0, node)], over)), []),
    );
});

describe('a node is the worker’s', () => {
  const cases: readonly [because: string, node: Partial<SlurmNode>][] = [
    ['because its comment, or what its slurmd registered with, names the NodeSet', { ours: true }],
    ['because its instance id is the pod’s', { instanceId: 'uid-0' }],
    ['because its slurmd registered from the pod, not before the pod started', { address: '10.0.0.0' }],
  ];
  for (const [because, node] of cases)
    test(because, () => {
      const given = observed([worker(0)], [slurmNode(0, { ...foreign, ...node })], { replicas: 0 });
      assert.deepEqual(
        slurmActions(given).map(({ kind }) => kind),
        ['drain'],
      );
    });
  test('but not where it registered from an address that the pod got later', () => {
    const node = { ...foreign, address: '10.0.0.0', slurmdStartedAt: now - 7_200_000 };
    assert.deepEqual(slurmActions(observed([worker(0)], [slurmNode(0, node)], { replicas: 0 })), []);
  });
});

test('a record without a worker goes only if it is ours', () => {
  const gone = { replicas: 0 };
  assert.deepEqual(slurmActions(observed([], [slurmNode(0, { ...foreign, ...drained })], gone)), []);
  assert.equal(slurmActions(observed([], [slurmNode(0, drained)], gone)).length, 1);
});

test('the condition names the pod, the node and what to do', () => {
  const given = observed([worker(0)], [slurmNode(0, foreign)]);
  const ready = nodeSetStatus(given, planWorkers(given, now), undefined, now).conditions.find(
    ({ type }) => type === 'Ready',
  );
  assert.equal(ready?.reason, 'NameConflict');
  assert.match(ready?.message ?? '', /Slurm node w-0 .* pod w-0 .*: set another hostname in the NodeSet/);
});

describe('a name that belongs to another NodeSet', () => {
  const takenNames = new Map([['w-1', 'older']]);
  const given = observed([worker(0)], [slurmNode(0)], { replicas: 2, takenNames });
  test('is not given to a worker', () => assert.deepEqual(planWorkers(given, now).actions, []));
  test('is named in the condition, with what to do', () => {
    const [ready] = nodeSetStatus(given, planWorkers(given, now), undefined, now).conditions;
    assert.equal(ready?.reason, 'NameConflict');
    assert.match(
      ready?.message ?? '',
      /Slurm node w-1 .* NodeSet older; .* Set another spec.template.spec.hostname/,
    );
  });
  test('says nothing where this NodeSet does not want it', () => {
    const without = { ...given, replicas: 1 };
    assert.deepEqual(planWorkers(without, now).nameConflicts, []);
  });
});

test('a worker that waits for its machine leaves the node of another NodeSet’s worker there alone', () => {
  const slot = { mode: 'DaemonSet', nodeName: 'n0' } as const;
  const pending = worker(0, {
    slot,
    slurmName: 'n0',
    phase: 'Pending',
    nodeName: undefined,
    ready: false,
    everStarted: false,
  });
  const theirs = slurmNode(0, { ...foreign, name: 'n0', instanceId: 'uid-of-theirs', base: 'ALLOCATED' });
  for (const over of [{ deleting: true }, { nodes: new Map() }])
    assert.deepEqual(
      slurmActions(observed([pending], [theirs], { scalingMode: 'DaemonSet', ...over })).filter(
        ({ kind }) => kind !== 'delete-worker',
      ),
      [],
    );
});
