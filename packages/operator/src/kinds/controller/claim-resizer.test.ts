import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ForbiddenError, type Manager, UnavailableError } from '@slurm-operator/kube';
import { ClaimResizer } from './claim-resizer.ts';

const { signal } = new AbortController();
const claim = { name: 'statesave-slurm-controller-0', uid: 'u', size: '10Gi' };

function resizer(answer: () => void) {
  let asked = 0;
  const client = {
    mergePatch: () => {
      asked += 1;
      answer();
      return Promise.resolve();
    },
  } as unknown as Manager['client'];
  return { subject: new ClaimResizer(client), asked: () => asked };
}

test('a refusal is quoted, and Kubernetes is asked again after five minutes or for another size', async () => {
  const { subject, asked } = resizer(() => {
    throw new ForbiddenError('patch claim', {
      status: 403,
      body: { kind: 'Status', message: 'the storageclass must support resize' },
    });
  });
  const first = await subject.resize('hpc', [claim], 0, signal);
  assert.match(first.troubles[0]?.message ?? '', /"10Gi".*must support resize/);
  assert.deepEqual(first.again, [300_000]);
  const second = await subject.resize('hpc', [claim], 1000, signal);
  assert.deepEqual([second.troubles, second.again, asked()], [first.troubles, [299_000], 1]);
  await subject.resize('hpc', [{ ...claim, size: '12Gi' }], 2000, signal);
  assert.equal(asked(), 2);
  await subject.resize('hpc', [{ ...claim, size: '12Gi' }], 302_000, signal);
  assert.equal(asked(), 3);
});

test('an API server that does not answer is no refusal', async () => {
  const { subject } = resizer(() => {
    throw new UnavailableError('patch claim', { status: 503 });
  });
  await assert.rejects(subject.resize('hpc', [claim], 0, signal), UnavailableError);
});
