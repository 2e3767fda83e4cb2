/** Which reviews are validated, and what is read for them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AdmissionRequest, Client } from '@slurm-operator/kube';
import { validatorOf } from './validator.ts';

const controller = (name: string, over: object = {}) =>
  ({ metadata: { name: 'slurm', namespace: 'hpc', ...over }, spec: { configFileRefs: [{ name }] } }) as never;

async function review(
  request: Partial<AdmissionRequest<never>>,
  map?: object,
  namespaces?: ReadonlySet<string>,
) {
  const client = { find: () => Promise.resolve(map) } as unknown as Client;
  const validator = validatorOf('Controller', { client, namespaces });
  return validator(
    { operation: 'CREATE', namespace: 'hpc', object: controller('gone'), ...request } as never,
    AbortSignal.timeout(5_000),
  );
}

for (const [reason, request, allowed] of [
  ['a created object is validated', {}, false],
  ['so is a changed specification', { operation: 'UPDATE', oldObject: controller('before') }, false],
  ['a change outside the specification is not', { operation: 'UPDATE', oldObject: controller('gone') }, true],
  [
    'nor an object that is being deleted',
    {
      operation: 'UPDATE',
      object: controller('gone', { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      oldObject: controller('before'),
    },
    true,
  ],
  ['nor a deletion', { operation: 'DELETE' }, true],
] as const)
  test(reason, async () => assert.equal((await review(request as never)).allowed, allowed));

test('validates only objects in its namespaces', async () => {
  assert.equal((await review({}, undefined, new Set(['hpc']))).allowed, false);
  assert.equal((await review({}, undefined, new Set(['team']))).allowed, true);
});

test('the keys of a ConfigMap are those of its text and of its bytes', async () => {
  assert.equal((await review({}, { data: { 'gres.conf': '' } })).allowed, true);
  assert.equal((await review({}, { data: { 'slurm.conf': '' } })).allowed, false);
  assert.equal((await review({}, { binaryData: { 'slurm.conf': '' } })).allowed, false);
});
