import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, BadRequestError, type Client, ForbiddenError, InvalidError } from '@slurm-operator/kube';
import { noteState } from './act.ts';

test('a refused note is an answer, also with the code of a webhook that gives none; anything else is tried again', async () => {
  const noted = (error: Error) => {
    const mergePatch = async (): Promise<never> => {
      throw error;
    };
    return noteState(
      { mergePatch } as unknown as Client,
      'hpc',
      { claim: 'mine', value: 'PartitionName=a' },
      new AbortController().signal,
    );
  };
  for (const Refusal of [BadRequestError, ForbiddenError, InvalidError]) {
    const result = await noted(new Refusal('PATCH', { status: 400, text: 'the policy says no' }));
    assert.match(result?.refused ?? '', /the policy says no/);
  }
  await assert.rejects(noted(new ApiError('PATCH', { status: 500 })));
});
