/** Which reviews are judged at all, and what is read for them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AdmissionRequest, Client } from '@slurm-operator/kube';
import { validatorOf } from './validator.ts';

const controller = (name: string, over: object = {}) =>
  ({ metadata: { name: 'slurm', namespace: 'hpc', ...over }, spec: { configFileRefs: [{ name }] } }) as never;

async function judged(
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
  ['what is made is judged', {}, false],
  ['so is what changes', { operation: 'UPDATE', oldObject: controller('before') }, false],
  [
    'what only changes beside its specification is not',
    { operation: 'UPDATE', oldObject: controller('gone') },
    true,
  ],
  [
    'nor what is on its way out',
    {
      operation: 'UPDATE',
      object: controller('gone', { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      oldObject: controller('before'),
    },
    true,
  ],
  ['nor what is deleted', { operation: 'DELETE' }, true],
] as const)
  test(reason, async () => assert.equal((await judged(request as never)).allowed, allowed));

test('of some namespaces only: elsewhere nothing is judged', async () => {
  assert.equal((await judged({}, undefined, new Set(['hpc']))).allowed, false);
  assert.equal((await judged({}, undefined, new Set(['team']))).allowed, true);
});

test('the keys of a ConfigMap are those of its text and of its bytes', async () => {
  assert.equal((await judged({}, { data: { 'gres.conf': '' } })).allowed, true);
  assert.equal((await judged({}, { data: { 'slurm.conf': '' } })).allowed, false);
  assert.equal((await judged({}, { binaryData: { 'slurm.conf': '' } })).allowed, false);
});
