/** Law L4: every delete and patch means one very object; what is gone, or was replaced, counts as done. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { NodeSet } from '@slurm-operator/api';
import {
  AlreadyExistsError,
  type Client,
  ConflictError,
  type DeleteOptions,
  InvalidError,
  NotFoundError,
} from '@slurm-operator/kube';
import type { WorkerAction } from '../model/actions.ts';
import { act } from './act.ts';

const deletePod: WorkerAction = {
  kind: 'delete-worker',
  name: 'w-0',
  uid: 'pod-uid',
  slurmName: 'w-0',
  because: 'never-started',
  why: 'scale-in',
  resourceVersion: '7',
};
const deleteClaim: WorkerAction = { kind: 'delete-claim', name: 'd-0', uid: 'claim-uid' };
const markClaim: WorkerAction = { kind: 'mark-claim', name: 'd-0', uid: 'claim-uid', scaledIn: true };
const patchPod: WorkerAction = { kind: 'patch-worker', name: 'w-0', uid: 'pod-uid', protect: true };
const adopt: WorkerAction = { kind: 'adopt-worker', name: 'w-0', uid: 'pod-uid' };

async function carryOut(actions: readonly WorkerAction[], answer: () => void = () => undefined) {
  const asked: { readonly uid: unknown; readonly resource: string; readonly version?: string }[] = [];
  const done: string[] = [];
  const client = {
    delete: async (resource: { plural: string }, _ref: object, options: DeleteOptions) => {
      const { uid, resourceVersion: version } = options;
      asked.push({ resource: resource.plural, uid, ...(version === undefined ? {} : { version }) });
      answer();
    },
    patch: async (
      resource: { plural: string },
      _ref: object,
      { body }: { body: { metadata: { uid?: string; resourceVersion?: string } } },
    ) => {
      const { uid, resourceVersion: version } = body.metadata;
      asked.push({ resource: resource.plural, uid, ...(version === undefined ? {} : { version }) });
      answer();
    },
  } as unknown as Client;
  let failed = false;
  try {
    await act(actions, {
      client,
      gateway: undefined,
      nodeSet: { metadata: { name: 'w', namespace: 'slurm', uid: 'set' } } as unknown as NodeSet,
      createWorker: async () => undefined,
      wrote: () => undefined,
      refused: () => undefined,
      storeRequeueable: async () => undefined,
      requeueable: () => undefined,
      done: (action) => void done.push(action.kind),
      signal: AbortSignal.timeout(60_000),
      now: () => 0,
      parallel: 1,
    });
  } catch {
    failed = true;
  }
  return { asked, done, failed };
}

test('whatever is deleted or patched is named by its uid', async () => {
  for (const [action, resource, uid] of [
    [patchPod, 'pods', 'pod-uid'],
    [adopt, 'pods', 'pod-uid'],
    [deleteClaim, 'persistentvolumeclaims', 'claim-uid'],
    [markClaim, 'persistentvolumeclaims', 'claim-uid'],
  ] as const)
    assert.deepEqual((await carryOut([action])).asked, [{ resource, uid }], action.kind);
});

test('a delete that relies on what the pod looked like means that very version of it', async () => {
  const named = { resource: 'pods', uid: 'pod-uid' };
  assert.deepEqual((await carryOut([deletePod])).asked, [{ ...named, version: '7' }]);
  const { resourceVersion: _, ...drained } = deletePod;
  assert.deepEqual((await carryOut([drained])).asked, [named]);
});

test('a cordon means that very version of the pod, with all that is told along; other facts do not', async () => {
  const cordon = { cordoned: true, cause: 'update' } as const;
  const named = { resource: 'pods', uid: 'pod-uid' };
  const mirror: WorkerAction = {
    kind: 'mirror-state',
    name: 'w-0',
    uid: 'pod-uid',
    conditions: new Map(),
    over: [],
  };
  const { asked } = await carryOut([mirror, { ...patchPod, cordon, resourceVersion: '7' }]);
  assert.deepEqual(asked, [{ ...named, version: '7' }]);
  assert.deepEqual((await carryOut([patchPod])).asked, [named]);
});

test('what met another pod, or another version of it, has not happened and is no failure', async () => {
  for (const action of [deletePod, patchPod]) {
    const { done, failed } = await carryOut([action], () => {
      throw new ConflictError('the pod was changed', { status: 409 });
    });
    assert.deepEqual({ done, failed }, { done: [], failed: false }, action.kind);
  }
});

test('of a pod that is gone nothing is left to do', async () => {
  for (const action of [deletePod, patchPod]) {
    const { done, failed } = await carryOut([action], () => {
      throw new NotFoundError('no such pod', { status: 404 });
    });
    assert.deepEqual({ done, failed }, { done: [action.kind], failed: false }, action.kind);
  }
});

describe('an object that is gone or was replaced counts as done', () => {
  const replaced = { causes: [{ field: 'metadata.uid', reason: 'FieldValueInvalid', message: 'immutable' }] };
  const cases: readonly [reason: string, error: Error, done: boolean][] = [
    ['gone', new NotFoundError('no such pod', { status: 404 }), true],
    ['another uid, or another version', new ConflictError('another uid', { status: 409 }), true],
    ['it already exists', new AlreadyExistsError('it is there', { status: 409 }), true],
    ['a patch met its successor', invalid(replaced.causes), true],
    [
      'another fault of the patch',
      invalid([{ field: 'spec', reason: 'FieldValueInvalid', message: 'no' }]),
      false,
    ],
    ['the server fails', new Error('internal error'), false],
  ];
  for (const [reason, error, done] of cases)
    test(reason, async () => {
      for (const action of [deleteClaim, adopt, markClaim]) {
        const result = await carryOut([action], () => {
          throw error;
        });
        assert.deepEqual(result.done, done ? [action.kind] : []);
        assert.equal(result.failed, !done);
      }
    });
});

test('law L6: without its finalizer a NodeSet gets no worker', async () => {
  const create: WorkerAction = { kind: 'create-worker', slot: { mode: 'StatefulSet', ordinal: 0 } };
  const { done, failed } = await carryOut([{ kind: 'add-finalizer' }, create], () => {
    throw new Error('refused');
  });
  assert.deepEqual(done, []);
  assert.ok(failed);
});

function invalid(causes: readonly { field: string; reason: string; message: string }[]): InvalidError {
  return new InvalidError('invalid', { status: 422, body: { details: { causes } } } as never);
}
