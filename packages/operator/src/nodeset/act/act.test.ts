import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSet } from '@slurm-operator/api';
import type { Client } from '@slurm-operator/kube';
import type { Action } from '../plan/actions.ts';
import type { SlurmGateway } from '../slurm-gateway.ts';
import { act } from './act.ts';

const actions: Action[] = [
  { kind: 'mark-claim', name: 'c', uid: 'c', scaledIn: true },
  { kind: 'patch-worker', name: 'w-0', uid: 'u', protect: true },
  { kind: 'undrain', slurmName: 'w-0' },
  {
    kind: 'delete-worker',
    name: 'w-1',
    uid: 'v',
    slurmName: 'w-1',
    because: 'never-started',
    why: 'scale-in',
  },
];

async function carryOut(
  broken: 'pods' | 'persistentvolumeclaims' | undefined,
): Promise<{ done: string[]; failed: boolean }> {
  const done: string[] = [];
  const refuse = async (resource: { plural: string }) => {
    if (resource.plural === broken) throw new Error('refused');
    return {};
  };
  const client = { patch: refuse, mergePatch: refuse, delete: async () => true } as unknown as Client;
  const gateway = { updateNode: async () => undefined } as unknown as SlurmGateway;
  const nodeSet = { metadata: { name: 'w', namespace: 'slurm' } } as unknown as NodeSet;
  const context = {
    client,
    gateway,
    nodeSet,
    createWorker: async () => undefined,
    wrote: () => undefined,
    done: (action: Action) => void done.push(action.kind),
    signal: AbortSignal.timeout(5_000),
    now: () => 0,
    parallel: 4,
  };
  const failed = await act(actions, context).then(
    () => false,
    () => true,
  );
  return { done, failed };
}

test('an action that fails is told of and stops no other', async () => {
  assert.deepEqual(await carryOut(undefined), {
    done: ['mark-claim', 'patch-worker', 'undrain', 'delete-worker'],
    failed: false,
  });
  assert.deepEqual(await carryOut('pods'), {
    done: ['mark-claim', 'undrain', 'delete-worker'],
    failed: true,
  });
});

test('without its mark on the claims a worker stays', async () => {
  assert.deepEqual(await carryOut('persistentvolumeclaims'), {
    done: ['patch-worker', 'undrain'],
    failed: true,
  });
});
