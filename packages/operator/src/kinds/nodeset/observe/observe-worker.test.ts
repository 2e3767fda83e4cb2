import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@slurm-operator/kube';
import { observeWorker } from './observe-worker.ts';

const everywhere = () => true;

function podOf(
  over: {
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    status?: Pod['status'];
    name?: string;
  } = {},
): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: over.name ?? 'gpu-3',
      labels: {
        'nodeset.slinky.slurm.net/pod-index': '3',
        'nodeset.slinky.slurm.net/scaling-mode': 'StatefulSet',
        ...over.labels,
      },
      annotations: over.annotations ?? {},
    },
    spec: { hostname: 'gpu-3', containers: [{ name: 'slurmd' }] },
    ...(over.status === undefined ? {} : { status: over.status }),
  };
}

const ended = { terminated: { exitCode: 1 } };
const running = { running: { startedAt: '2026-01-02T03:04:05Z' } };
const container = (state: object) => ({
  name: 'slurmd',
  image: '',
  imageID: '',
  ready: false,
  restartCount: 0,
  state,
});

test('containers are dead only by the word of the kubelet', () => {
  const cases: { reason: string; status: NonNullable<Pod['status']>; dead: boolean }[] = [
    { reason: 'a phase that a controller wrote is no evidence', status: { phase: 'Failed' }, dead: false },
    {
      reason: 'a running container lives',
      status: { phase: 'Running', containerStatuses: [container(running)] },
      dead: false,
    },
    {
      reason: 'every container has ended',
      status: { phase: 'Failed', containerStatuses: [container(ended)] },
      dead: true,
    },
    {
      reason: 'one that waits to be restarted may live again',
      status: {
        phase: 'Running',
        containerStatuses: [container({ waiting: { reason: 'CrashLoopBackOff' } })],
      },
      dead: false,
    },
  ];
  for (const { reason, status, dead } of cases)
    assert.equal(observeWorker(podOf({ status }), everywhere)?.containersDead, dead, reason);
});

test('containers ended when the last of them did, if all have and the kubelet says when', () => {
  const at = (finishedAt?: string) => container({ terminated: { exitCode: 1, finishedAt } });
  const end = (...containerStatuses: ReturnType<typeof container>[]) =>
    observeWorker(podOf({ status: { phase: 'Failed', containerStatuses } }), everywhere)?.endedAt;
  const [early, late] = ['2026-01-02T03:04:05Z', '2026-01-02T03:04:06Z'];
  assert.equal(end(at(early)), Date.parse(early));
  assert.equal(end(at(late), at(early)), Date.parse(late));
  assert.equal(end(at(early), at()), undefined, 'the kubelet has lost one');
  assert.equal(end(at(early), container(running)), undefined, 'one lives');
  assert.equal(end(), undefined);
});

test('a worker has started when any container of it ever did', () => {
  const waiting = container({ waiting: { reason: 'ImagePullBackOff' } });
  assert.equal(
    observeWorker(podOf({ status: { phase: 'Pending', containerStatuses: [waiting] } }), everywhere)
      ?.everStarted,
    false,
  );
  assert.equal(
    observeWorker(
      podOf({ status: { phase: 'Pending', containerStatuses: [{ ...waiting, restartCount: 1 }] } }),
      everywhere,
    )?.everStarted,
    true,
  );
  assert.equal(
    observeWorker(
      podOf({ status: { phase: 'Pending', initContainerStatuses: [container(ended)] } }),
      everywhere,
    )?.everStarted,
    true,
  );
});

test('a worker that cannot start waits for an image or a file, and no container of it ever ran', () => {
  const waits = (reason: string, name = 'slurmd') => ({ ...container({ waiting: { reason } }), name });
  const cases: readonly [reason: string, status: object, cannotStart: boolean][] = [
    ['its image does not come', { containerStatuses: [waits('ErrImagePull')] }, true],
    ['its image does not come again', { containerStatuses: [waits('ImagePullBackOff')] }, true],
    ['its image has no name', { containerStatuses: [waits('InvalidImageName')] }, true],
    ['a ConfigMap is missing', { containerStatuses: [waits('CreateContainerConfigError')] }, true],
    ['it is being made', { containerStatuses: [waits('ContainerCreating')] }, false],
    ['it could not be run', { containerStatuses: [waits('RunContainerError')] }, false],
    ['nothing was said of it', {}, false],
    ['what comes before it does not come', { initContainerStatuses: [waits('ErrImagePull', 'init')] }, true],
    [
      'what runs beside it does not come',
      { containerStatuses: [waits('ContainerCreating'), waits('ErrImagePull', 'logfile')] },
      false,
    ],
    ['it ran before', { containerStatuses: [{ ...waits('ImagePullBackOff'), restartCount: 1 }] }, false],
  ];
  for (const [reason, status, cannotStart] of cases)
    assert.equal(
      observeWorker(podOf({ status: { phase: 'Pending', ...status } }), everywhere)?.cannotStart,
      cannotStart,
      reason,
    );
});

test('a worker in the network of its machine has the name of that machine in Slurm, before it is placed too if it is bound to it', () => {
  const named = (spec: object, over: Parameters<typeof podOf>[0] = {}) => {
    const pod = podOf(over);
    return observeWorker({ ...pod, spec: { ...pod.spec, ...spec } } as Pod, everywhere)?.slurmName;
  };
  const daemon = {
    labels: { 'nodeset.slinky.slurm.net/scaling-mode': 'DaemonSet' },
    annotations: { 'nodeset.slinky.slurm.net/target-node': 'm1.example.org' },
  };
  assert.equal(named({}), 'gpu-3');
  assert.equal(named({ hostNetwork: true, nodeName: 'm1.example.org' }), 'm1.example.org');
  assert.equal(named({ hostNetwork: true }), '');
  assert.equal(named({ hostNetwork: true }, daemon), 'm1.example.org');
});

test('annotations are read as strictly as they are documented', () => {
  const of = (annotations: Record<string, string>) => observeWorker(podOf({ annotations }), everywhere);
  const cost = 'nodeset.slinky.slurm.net/pod-deletion-cost';
  for (const [text, value] of [
    ['5', 5],
    ['-7', -7],
    ['+5', 0],
    ['007', 0],
    ['9999999999', 0],
    ['x', 0],
  ] as const) {
    assert.equal(of({ [cost]: text })?.deletionCost, value, `deletion cost ${text}`);
  }
  assert.equal(of({ 'nodeset.slinky.slurm.net/pod-cordon': 'True' })?.cordoned, false, 'exactly "true"');
  assert.equal(
    of({ 'nodeset.slinky.slurm.net/pod-cordon': 'true' })?.cordonCause,
    undefined,
    'a cordon without our cause is a person’s',
  );
  assert.equal(
    of({ 'nodeset.slinky.slurm.net/pod-deadline': '9999-12-31T23:59:59Z' })?.deadline,
    Number.POSITIVE_INFINITY,
  );
});

test('a pod without a slot is none of ours', () => {
  assert.equal(
    observeWorker({ ...podOf({ name: 'stray' }), metadata: { name: 'stray' } }, everywhere),
    undefined,
  );
  assert.deepEqual(
    observeWorker({ ...podOf(), metadata: { name: 'gpu-012' } }, everywhere)?.slot,
    { mode: 'StatefulSet', ordinal: 12 },
    'pods of upstream are known by their name',
  );
});

test('why a pod does not come up is taken from the scheduler and the kubelet', () => {
  const unscheduled = {
    phase: 'Pending' as const,
    conditions: [
      {
        type: 'PodScheduled',
        status: 'False' as const,
        message: '0/3 nodes are available: 3 Insufficient cpu.',
      },
    ],
  };
  assert.deepEqual(observeWorker(podOf({ status: unscheduled }), everywhere)?.problem, {
    kind: 'unschedulable',
    message: '0/3 nodes are available: 3 Insufficient cpu.',
  });
  const waiting = (reason: string) => ({
    phase: 'Pending' as const,
    containerStatuses: [container({ waiting: { reason, message: 'no such image' } })],
  });
  assert.deepEqual(observeWorker(podOf({ status: waiting('ImagePullBackOff') }), everywhere)?.problem, {
    kind: 'image',
    message: 'slurmd: no such image',
  });
  assert.equal(
    observeWorker(podOf({ status: waiting('CrashLoopBackOff') }), everywhere)?.problem?.kind,
    'crash',
  );
  assert.equal(
    observeWorker(podOf({ status: waiting('ContainerCreating') }), everywhere)?.problem,
    undefined,
  );
});

test('of a worker that upstream made only the digest of its key is comparable', () => {
  const notes = { 'slinky.slurm.net/slurm-key-hash': 'k', 'slinky.slurm.net/sssd-conf-hash': 's' };
  const hashes = (annotations: Record<string, string>) =>
    observeWorker(podOf({ annotations }), everywhere)?.hashes;
  assert.deepEqual(hashes(notes), notes);
  assert.deepEqual(hashes({ ...notes, 'slinky.slurm.net/sshd-conf-hash': 'x' }), {
    'slinky.slurm.net/slurm-key-hash': 'k',
  });
});

test('of the conditions of a pod those count that mirror its Slurm node, and are true', () => {
  const conditions = [
    { type: 'SlurmNodeStateIdle', status: 'True', message: '' },
    { type: 'SlurmNodeStateDrain', status: 'False', message: 'over' },
    { type: 'Ready', status: 'True', message: '' },
  ] as NonNullable<NonNullable<Pod['status']>['conditions']>;
  const seen = observeWorker(
    podOf({ status: { phase: 'Running', conditions } }),
    everywhere,
  )?.slurmConditions;
  assert.deepEqual([...(seen ?? [])], [['SlurmNodeStateIdle', '']]);
});
