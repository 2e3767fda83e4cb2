import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim, StorageClass } from '../../objects/objects.ts';
import { ignoresFsGroup } from '../../objects/objects.ts';
import { buildVolume, unboundEvent } from './plan.ts';

const claim = (spec: object) =>
  ({ metadata: { name: 'a', namespace: 'n', uid: 'u' }, spec }) as unknown as PersistentVolumeClaim;
const storageClass = (more: object = {}) =>
  ({ metadata: { name: 'standard' }, provisioner: 'localcluster/directory', ...more }) as StorageClass;

for (const [reason, spec, found, expected] of [
  [
    'a claim with a class waits for its provisioner',
    { storageClassName: 'standard' },
    storageClass(),
    undefined,
  ],
  [
    'a claim of a class that does not exist gets a warning with its name',
    { storageClassName: 'fast' },
    undefined,
    {
      type: 'Warning',
      reason: 'ProvisioningFailed',
      message: 'storageclass.storage.k8s.io "fast" not found',
    },
  ],
  [
    'a claim without a class, where there is no default, gets a normal event',
    {},
    undefined,
    {
      type: 'Normal',
      reason: 'FailedBinding',
      message: 'no persistent volumes available for this claim and no storage class is set',
    },
  ],
] as const)
  test(reason, () => {
    assert.deepEqual(unboundEvent(claim(spec), found), expected);
  });

test('only a class that says so makes volumes that ignore fsGroup', () => {
  const annotations = (parameters?: Record<string, string>) =>
    buildVolume(claim({}), storageClass(parameters === undefined ? {} : { parameters }), '/v').metadata
      .annotations as Record<string, string>;
  assert.equal(annotations({ ignoreFsGroup: 'true' })[ignoresFsGroup], 'true');
  assert.equal(annotations()[ignoresFsGroup], undefined);
});
