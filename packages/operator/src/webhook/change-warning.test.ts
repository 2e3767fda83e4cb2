/** The sentence that an update of a NodeSet is answered with, and that it never costs the request. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSet } from '@slurm-operator/api';
import type { AdmissionRequest, Client, DeepReadonly, Pod } from '@slurm-operator/kube';
import { changeWarning } from './change-warning.ts';
import { validatorOf } from './validator.ts';

const set = (spec: object, replicas = 4) =>
  ({
    apiVersion: 'slinky.slurm.net/v1beta1',
    kind: 'NodeSet',
    metadata: { name: 'gpu', namespace: 'hpc', uid: 'u' },
    spec: {
      controllerRef: { name: 'slurm' },
      replicas: 4,
      scalingMode: 'StatefulSet',
      slurmd: { image: 'slurmd:1' },
      ...spec,
    },
    status: { replicas },
  }) as unknown as DeepReadonly<NodeSet>;

const worker = (end?: string) =>
  ({
    metadata: {
      labels: end === undefined ? {} : { 'nodeset.slinky.slurm.net/pod-protect': 'true' },
      annotations: end === undefined || end === '' ? {} : { 'nodeset.slinky.slurm.net/pod-deadline': end },
      ownerReferences: [{ uid: 'u' }],
    },
  }) as unknown as DeepReadonly<Pod>;

const four = [worker(), worker('2026-11-20T18:40:00Z'), worker('2026-11-19T10:00:00Z'), worker()];
const image = { slurmd: { image: 'slurmd:2' } };

for (const [reason, after, workers, says] of [
  ['nothing changes', {}, four, undefined],
  ['a scale-out', { replicas: 9 }, four, undefined],
  ['what no worker is made of', { minReadySeconds: 5 }, four, undefined],
  [
    'a new image',
    image,
    four,
    'NodeSet gpu: this replaces 4 of 4 workers, 1 at a time, each once its jobs have ended (2 have jobs now, the last until 2026-11-20T18:40:00Z at the latest).',
  ],
  [
    'a new image, nothing runs',
    image,
    [worker(), worker()],
    'NodeSet gpu: this replaces 2 of 2 workers, 1 at a time, each once its jobs have ended.',
  ],
  [
    'a job without a known end',
    image,
    [worker('2026-11-20T18:40:00Z'), worker('')],
    'NodeSet gpu: this replaces 2 of 2 workers, 1 at a time, each once its jobs have ended (2 have jobs now).',
  ],
  [
    'the workers are unknown',
    image,
    undefined,
    'NodeSet gpu: this replaces 4 of 4 workers, 1 at a time, each once its jobs have ended.',
  ],
  [
    'a budget',
    { ...image, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '50%' } } },
    undefined,
    'NodeSet gpu: this replaces 4 of 4 workers, 2 at a time, each once its jobs have ended.',
  ],
  [
    'a partition',
    { ...image, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 3 } } },
    undefined,
    'NodeSet gpu: this replaces 1 of 4 workers, 1 at a time, each once its jobs have ended.',
  ],
  [
    'paused',
    { ...image, updateStrategy: { rollingUpdate: { paused: true } } },
    undefined,
    'NodeSet gpu: 4 workers keep the old revision while the rollout is paused.',
  ],
  [
    'OnDelete',
    { ...image, updateStrategy: { type: 'OnDelete' } },
    undefined,
    'NodeSet gpu: 4 workers keep the old revision until you delete them (updateStrategy OnDelete).',
  ],
  [
    'a window',
    {
      ...image,
      updateStrategy: { type: 'ScheduledUpdate', scheduledUpdate: { startTime: '2026-12-01T00:00:00Z' } },
    },
    undefined,
    'NodeSet gpu: 4 workers are replaced in the window that begins at 2026-12-01T00:00:00Z.',
  ],
  [
    'a scale-in',
    { replicas: 1 },
    four,
    'NodeSet gpu: replicas 4 → 1 removes 3 workers once their jobs have ended (2 have jobs now, the last until 2026-11-20T18:40:00Z at the latest).',
  ],
  ['replicas, which autoscale ignores', { replicas: 1, autoscale: { min: 0, max: 8 } }, four, undefined],
  [
    'a new image of more workers than replicas, with autoscale',
    { ...image, replicas: 1, autoscale: { min: 0, max: 8 } },
    [worker(), worker()],
    'NodeSet gpu: this replaces 2 of 2 workers, 1 at a time, each once its jobs have ended.',
  ],
] as const)
  test(`warning: ${reason}`, () => {
    assert.equal(changeWarning(set({}), set(after), workers), says);
  });

test('warning: a lower maximum of an autoscaled NodeSet', () => {
  const autoscaled = (max: number) => set({ autoscale: { min: 0, max } });
  assert.equal(
    changeWarning(autoscaled(16), autoscaled(8), four),
    'NodeSet gpu: autoscale.max 16 → 8 removes 8 Slurm nodes, those with jobs once these have ended (2 have jobs now, the last until 2026-11-20T18:40:00Z at the latest).',
  );
  assert.equal(changeWarning(autoscaled(8), autoscaled(16), four), undefined);
});

const review = (client: Partial<Client>, after: object) =>
  validatorOf('NodeSet', { client: { find: () => Promise.resolve({}), ...client } as unknown as Client })(
    {
      operation: 'UPDATE',
      namespace: 'hpc',
      object: set(after),
      oldObject: set({}),
    } as unknown as AdmissionRequest<never>,
    AbortSignal.timeout(60_000),
  );

test('the answer to a review carries the sentence', async () => {
  const list = (resource: { plural: string }) =>
    Promise.resolve({ items: resource.plural === 'pods' ? four : [], resourceVersion: '' });
  const { allowed, warnings } = await review({ list } as never, image);
  assert.equal(allowed, true);
  assert.match(warnings?.at(-1) ?? '', /replaces 4 of 4 workers.*2 have jobs now/);
});

test('kubectl scale gets the sentence too, and is never refused', async () => {
  let spec: object = {};
  const list = (resource: { plural: string }) =>
    Promise.resolve({ items: resource.plural === 'pods' ? four : [set(spec)], resourceVersion: '' });
  const scale = (replicas: number | undefined) => ({
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'gpu', namespace: 'hpc', uid: set({}).metadata.uid },
    spec: replicas === undefined ? {} : { replicas },
  });
  const answer = (from: number, to: number | undefined) =>
    validatorOf('NodeSet', { client: { list } as unknown as Client })(
      {
        operation: 'UPDATE',
        namespace: 'hpc',
        subResource: 'scale',
        object: scale(to),
        oldObject: scale(from),
      } as unknown as AdmissionRequest<never>,
      AbortSignal.timeout(60_000),
    );
  const { allowed, warnings } = await answer(4, 1);
  assert.equal(allowed, true);
  assert.match(warnings?.join() ?? '', /^NodeSet gpu: replicas 4 → 1 removes 3 workers .*2 have jobs now/);
  // Zero replicas are left out of a Scale.
  assert.match((await answer(4, undefined)).warnings?.join() ?? '', /replicas 4 → 0 removes 4 workers/);
  assert.deepEqual((await answer(1, 4)).warnings ?? [], []);
  spec = { autoscale: { min: 2, max: 8 } };
  for (const [from, to] of [
    [1, 4],
    [4, 1],
  ] as const)
    assert.deepEqual((await answer(from, to)).warnings, [
      `NodeSet gpu: replicas ${to} has no effect while spec.autoscale is set (min 2, max 8): set autoscale.min for workers that always run, autoscale.max for nodes that jobs may wake, or remove spec.autoscale first.`,
    ]);
});

for (const [reason, pods] of [
  ['cannot be listed', () => Promise.reject(new Error('forbidden'))],
  ['do not come', () => new Promise(() => {})],
] as const)
  test(`workers that ${reason} cost the warning its details, never the request`, async () => {
    const list = (resource: { plural: string }) =>
      resource.plural === 'pods' ? pods() : Promise.resolve({ items: [], resourceVersion: '' });
    const { allowed, warnings } = await review({ list } as never, image);
    assert.equal(allowed, true);
    assert.match(
      warnings?.at(-1) ?? '',
      /replaces 4 of 4 workers, 1 at a time, each once its jobs have ended\.$/,
    );
  });
