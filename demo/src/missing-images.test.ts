import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@slurm-operator/kube';
import { aPod } from '@slurm-operator/kube/testing';
import { explainMissing, hasImages, missingImages } from './missing-images.ts';
import { demoImages } from './names.ts';

const pod = (...states: object[]) =>
  aPod({
    spec: {
      containers: [
        { name: 'a', image: 'one:1' },
        { name: 'b', image: 'two:2' },
      ],
    },
    status: { containerStatuses: states.map((state, index) => ({ name: 'ab'[index], state })) },
  });
const waiting = (reason: string, message?: string) => ({ waiting: { reason, message } });

for (const [reason, given, missing, complete] of [
  ['nothing is known yet', pod(), [], false],
  ['one is still being fetched', pod({ running: {} }, waiting('ContainerCreating')), [], false],
  ['only some have reported', pod({ running: {} }), [], false],
  ['all run or have run', pod({ running: {} }, { terminated: { exitCode: 1 } }), [], true],
  [
    'an image without that program is there all the same',
    pod({ running: {} }, waiting('RunContainerError')),
    [],
    true,
  ],
  ['a pull that failed', pod({ running: {} }, waiting('ErrImagePull', 'not found')), ['two:2'], false],
  [
    'and is tried later',
    pod(waiting('ImagePullBackOff'), waiting('InvalidImageName')),
    ['one:1', 'two:2'],
    false,
  ],
] as const)
  test(`images: ${reason}`, () => {
    assert.deepEqual(
      missingImages(given).map(({ image }) => image),
      missing,
    );
    assert.equal(hasImages(given), complete);
  });

test('an init container without its image is found too', () => {
  const given = {
    spec: { initContainers: [{ name: 'i', image: 'first:1' }], containers: [{ name: 'a', image: 'one:1' }] },
    status: {
      initContainerStatuses: [{ name: 'i', state: waiting('ErrImagePull', 'denied') }],
      containerStatuses: [{ name: 'a', state: waiting('PodInitializing') }],
    },
  } as unknown as Pod;
  assert.deepEqual(missingImages(given), [{ image: 'first:1', why: 'ErrImagePull: denied' }]);
});

test('what is missing is named once, with what to do', () => {
  const said = explainMissing([
    { image: 'one:1', why: 'ErrImagePull' },
    { image: 'one:1', why: 'ErrImagePull' },
  ]);
  assert.equal(said.split('one:1').length, 2);
  assert.match(said, /make images/);
  assert.match(said, /REGISTRY=/);
});

test('a registry stands in front of every image of the demo', () => {
  for (const [registry, prefix] of [
    ['', ''],
    ['registry.example.com/hpc', 'registry.example.com/hpc/'],
    ['registry.example.com/', 'registry.example.com/'],
  ] as const)
    for (const image of demoImages(registry)) assert.ok(image.startsWith(`${prefix}slurm-operator/`), image);
  assert.equal(new Set(demoImages()).size, 7);
});

test('the cause that the kubelet names last is not cut off', () => {
  const image = `registry.example.com/${'hpc/'.repeat(20)}slurmctld:26.05`;
  const why = `ImagePullBackOff: Back-off pulling image "${image}": ErrImagePull: failed to pull image "${image}": not found`;
  assert.match(explainMissing([{ image, why }]), /\(ErrImagePull: failed to pull image ".*": not found\)/);
});
