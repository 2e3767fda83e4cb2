import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { kubeNode, now, observed, slurmNode, worker } from '../../../../testing/observed.ts';
import type { Problem } from '../../../framework/status/conditions.ts';
import type { Observed } from '../model/observed.ts';
import { planWorkers } from '../plan/plan-workers.ts';
import { nodeSetStatus } from './status.ts';

function conditions(given: Observed, problem?: Problem) {
  const draft = nodeSetStatus(given, planWorkers(given, now), problem, now);
  return Object.fromEntries(draft.conditions.map(({ type, ...rest }) => [type, rest]));
}

const both = [worker(0), worker(1)];
const busy = { base: 'ALLOCATED' as const, deadline: now + 3_600_000 };

test('a NodeSet at rest is Ready, Idle, not Degraded, and its keys are current', () => {
  const { Ready, Progressing, Degraded, KeysCurrent } = conditions(
    observed(both, [slurmNode(0), slurmNode(1)]),
  );
  assert.equal(Ready?.status, 'True');
  assert.equal(Progressing?.reason, 'Idle');
  assert.equal(Degraded?.status, 'False');
  assert.equal(KeysCurrent?.status, 'True');
});

test('a worker that waits for a pending job of its predecessor: the job is named', () => {
  const record = { flags: new Set(['DRAIN']), reason: 'slurm-operator: going', features: ['old'] };
  const { Progressing } = conditions(
    observed([], [slurmNode(0, record)], {
      replicas: 1,
      features: ['new'],
      pendingNeeds: { kind: 'known', jobs: [{ id: '7', nodes: [], features: ['old'] }] },
    }),
  );
  assert.equal(Progressing?.reason, 'RecordsKept');
  assert.match(
    Progressing?.message ?? '',
    /^Slurm node w-0 stays.*job 7.*Its next worker has other features/,
  );
});

test('a worker that has not loaded a new key is counted in KeysCurrent', () => {
  const note = 'slinky.slurm.net/slurm-key-hash';
  const given = observed(
    [worker(0, { hashes: { [note]: 'old' } }), worker(1)],
    [slurmNode(0), slurmNode(1)],
    {
      hashes: { [note]: 'new' },
    },
  );
  const { KeysCurrent } = conditions(given);
  assert.equal(KeysCurrent?.status, 'False');
  assert.match(KeysCurrent?.message ?? '', /^1 of 2 workers still use an old key: w-0\./);
  assert.equal(
    nodeSetStatus(given, planWorkers(given, now), undefined, now).counts.updatedReplicas,
    2,
    'it needs no successor',
  );
});

test('what Slurm refuses to note is told in its words, with the worker and what to do', () => {
  const machine = (name: string) => kubeNode(name, { topology: 'topo:nowhere' });
  const refusal = { topology: 'topo:nowhere', message: 'Invalid topology.', until: now };
  const given = observed(both, [slurmNode(0), slurmNode(1, { topology: 'topo:nowhere' })], {
    nodes: new Map(['n0', 'n1'].map((name) => [name, machine(name)])),
    refusals: new Map(['w-0', 'w-1'].map((name) => [name, refusal])),
  });
  const { Ready, Degraded } = conditions(given);
  assert.equal(Ready?.status, 'True', 'its workers work');
  assert.deepEqual(Degraded, {
    status: 'True',
    reason: 'UpdateRefused',
    message:
      'Slurm refuses topology topo:nowhere of w-0: "Invalid topology": correct the annotation topology.slinky.slurm.net/spec of Node n0, or add the topology to topology.yaml. The operator retries every few minutes, and at once when the annotation changes.',
  });
});

test('is not Ready before slurmctld has read the partition of the NodeSet', () => {
  const configLines = { state: 'present', held: [] } as const;
  const outside = [slurmNode(0, { outsidePartition: true }), slurmNode(1, { outsidePartition: true })];
  const { Ready } = conditions(observed(both, outside, { partition: 'w', configLines }));
  assert.deepEqual([Ready?.status, Ready?.reason], ['False', 'Reconfiguring']);
  assert.match(
    Ready?.message ?? '',
    /^Partition w does not contain the workers yet: .*of Controller slurm\.$/,
  );
  const joined = conditions(
    observed(both, [slurmNode(0), ...outside.slice(1)], { partition: 'w', configLines }),
  ).Ready;
  assert.equal(joined?.status, 'True', 'slurmctld knows the partition');
  const elsewhere = { partition: 'w', configLines: { state: 'external', held: [] } } as const;
  assert.equal(conditions(observed(both, outside, elsewhere)).Ready?.status, 'True');
});

test('a worker on a node that Kubernetes does not reach is named together with that node', () => {
  const lost = worker(1, { nodeReachable: false, ready: false });
  const { Ready } = conditions(observed([worker(0), lost], [slurmNode(0), slurmNode(1)]));
  assert.equal(Ready?.reason, 'PodsNotReady');
  assert.match(
    Ready?.message ?? '',
    /^1 of 2 workers are available\. Node n1 does not respond, and w-1 runs there: .*kubectl delete node\.$/,
  );
});

describe('reports resources in Slurm that differ from those of the pod', () => {
  const size = { cpus: 8, memory: 16_000, gpus: 2 };
  const cases: readonly [string, Parameters<typeof slurmNode>[1], RegExp | undefined][] = [
    ['all as given', { size }, undefined],
    ['fewer CPUs', { size: { ...size, cpus: 4 } }, /w-0 \(4 CPUs instead of 8\)/],
    ['less memory', { size: { ...size, memory: 8_000 } }, /8000 MiB of memory instead of 16000/],
    ['no GPU', { size: { ...size, gpus: 0 } }, /0 GPUs instead of 2/],
    [
      'a registration that is refused, in Slurm’s words',
      {
        size,
        flags: new Set(['INVALID_REG', 'DRAIN']),
        reason: 'gres/gpu count reported lower than configured (0 < 2)',
      },
      /gres\/gpu count reported lower/,
    ],
  ];
  for (const [reason, over, message] of cases)
    test(reason, () => {
      const { Degraded } = conditions(observed([worker(0)], [slurmNode(0, over)], { size }));
      assert.equal(Degraded?.reason, message === undefined ? 'AsExpected' : 'ResourcesMismatch');
      if (message !== undefined) assert.match(Degraded?.message ?? '', message);
    });
  test('what slurmd detects is not compared', () => {
    const unknown = { cpus: undefined, memory: undefined, gpus: undefined };
    const { Degraded } = conditions(observed([worker(0)], [slurmNode(0)], { size: unknown }));
    assert.equal(Degraded?.status, 'False');
  });
});

test('a rollout tells how far it is and when the jobs it waits for must be over', () => {
  const workers = [
    worker(0, { revision: 'r0', ...written }),
    worker(1, { revision: 'r0', ...written }),
    worker(2),
  ];
  const nodes = [slurmNode(0, busy), slurmNode(1, busy), slurmNode(2)];
  const { Progressing } = conditions(observed(workers, nodes));
  assert.equal(Progressing?.reason, 'Draining');
  assert.equal(
    Progressing?.message,
    '1 workers are being removed, 1 of them wait for jobs; the last of these must end by 1970-04-26T18:46:40Z. 1 of 3 workers have the new revision, 2 of the others have jobs; the last of these must end by 1970-04-26T18:46:40Z.',
  );
});
const written = { deadline: now + 3_600_000, writtenDeadline: now + 3_600_000 };

test('what went wrong on the way is said first', () => {
  const problem: Problem = { reason: 'QuotaExceeded', message: 'pods is forbidden: exceeded quota' };
  const { Ready, Degraded } = conditions(observed(both, [slurmNode(0), slurmNode(1)]), problem);
  assert.deepEqual([Ready?.reason, Degraded?.reason], ['QuotaExceeded', 'QuotaExceeded']);
});

describe('each state of a NodeSet has its reasons', () => {
  const unknown = { slurm: { kind: 'unknown', since: 0, why: 'connection refused' } } as const;
  const nodes = [slurmNode(0), slurmNode(1)];
  const old = [worker(0, { revision: 'r0' }), worker(1, { revision: 'r0' })];
  const update = (over: Partial<Observed['update']>) => ({ update: { ...observed([], []).update, ...over } });
  const stuck = { phase: 'Pending', ready: false, readySince: undefined, everStarted: false } as const;
  const image = { kind: 'image', message: 'slurmd: no such image' } as const;
  const cases: readonly [
    reason: string,
    given: Observed,
    ready: string,
    progressing: string,
    degraded: string,
  ][] = [
    ['no workers are desired', observed([], [], { replicas: 0 }), 'ScaledToZero', 'Idle', 'AsExpected'],
    ['it goes', observed(both, nodes, { deleting: true }), 'Deleting', 'Draining', 'AsExpected'],
    [
      'a worker is missing',
      observed([worker(0)], [slurmNode(0)], { replicas: 2 }),
      'PodsNotReady',
      'Scaling',
      'AsExpected',
    ],
    [
      'a worker has no image',
      observed([worker(0), worker(1, { ...stuck, problem: image })], [slurmNode(0)]),
      'ImagePullFailed',
      'Idle',
      'AsExpected',
    ],
    [
      'one has not joined',
      observed([worker(0), worker(1, { readySince: now })], [slurmNode(0)]),
      'NodesNotRegistered',
      'Idle',
      'AsExpected',
    ],
    [
      'a node is down',
      observed(both, [slurmNode(0, { base: 'DOWN' }), slurmNode(1)]),
      'Ready',
      'Idle',
      'NodesDown',
    ],
    [
      'a user drained a node',
      observed(both, [slurmNode(0, { flags: new Set(['DRAIN']), reason: 'bad disk' }), slurmNode(1)]),
      'Ready',
      'Idle',
      'NodesDown',
    ],
    [
      'Slurm does not answer, and nothing waits for it',
      observed(both, [], unknown),
      'SlurmUnknown',
      'Idle',
      'AsExpected',
    ],
    [
      'Slurm does not answer, and a worker should go',
      observed(both, [], { ...unknown, replicas: 1 }),
      'SlurmUnknown',
      'Draining',
      'SlurmUnknown',
    ],
    [
      'the new slurmd is too new',
      observed(old, nodes, { updateHeld: 'upgrade slurmctld first' }),
      'Ready',
      'RollingOut',
      'RolloutStuck',
    ],
    ['a rollout is paused', observed(old, nodes, update({ paused: true })), 'Ready', 'Paused', 'AsExpected'],
    [
      'a rollout waits for its window',
      observed(old, nodes, update({ type: 'ScheduledUpdate', reservation: 'maint' })),
      'Ready',
      'WaitingForWindow',
      'AsExpected',
    ],
  ];
  for (const [reason, given, ...expected] of cases)
    test(reason, () => {
      const { Ready, Progressing, Degraded } = conditions(given);
      assert.deepEqual([Ready?.reason, Progressing?.reason, Degraded?.reason], expected);
    });
});

test('a worker that goes is counted, but not among those that have the newest revision', () => {
  const given = observed([worker(0), worker(1, { terminating: true })], [slurmNode(0), slurmNode(1)]);
  const { counts } = nodeSetStatus(given, planWorkers(given, now), undefined, now);
  assert.deepEqual([counts.replicas, counts.updatedReplicas, counts.readyReplicas], [2, 1, 1]);
});
