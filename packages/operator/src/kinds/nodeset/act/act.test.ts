import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { NodeSet } from '@slurm-operator/api';
import type { Client } from '@slurm-operator/kube';
import { NotSupported, Refused, Unavailable } from '@slurm-operator/slurm';
import { actContext } from '../../../../testing/act-context.ts';
import type { SlurmGateway } from '../../../slurm-connection/slurm-gateway.ts';
import type { WorkerAction } from '../model/actions.ts';
import { act } from './act.ts';

const actions: WorkerAction[] = [
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
  const context = actContext({
    client,
    gateway,
    done: (action: WorkerAction) => void done.push(action.kind),
  });
  const failed = await act(actions, context).then(
    () => false,
    () => true,
  );
  return { done, failed };
}

test('a failed action is reported and stops no other action', async () => {
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

describe('an update of a node that Slurm does not take', () => {
  const update: WorkerAction = {
    kind: 'update-node',
    slurmName: 'w-0',
    topology: 'topo:nowhere',
    comment: '{}',
  };
  const tryIt = async (error: Error) => {
    const told: unknown[] = [];
    const gateway = {
      updateNode: async (name: string) => {
        if (name === 'w-0') throw error;
      },
    } as unknown as SlurmGateway;
    const context = actContext({
      gateway,
      wrote: (name: string) => void told.push(`wrote ${name}`),
      refused: ({ slurmName, topology }: { slurmName: string; topology?: string }, words: string) =>
        void told.push(`${slurmName} ${topology}: ${words}`),
      done: (action: WorkerAction) => void told.push('slurmName' in action ? `done ${action.slurmName}` : ''),
      parallel: 1,
    });
    let failure: unknown;
    try {
      await act([update, { ...update, slurmName: 'w-1' }], context);
    } catch (thrown) {
      failure = thrown;
    }
    return { told, failure };
  };

  for (const [reason, error] of [
    ['because it refuses', new Refused('cannot update node w-0', { text: 'Invalid topology' })],
    ['because it is too old for it', new NotSupported('Invalid topology')],
  ] as const)
    test(`${reason} is reported with its message, and stops nothing`, async () => {
      assert.deepEqual(await tryIt(error), {
        told: ['wrote w-0', 'w-0 topo:nowhere: Invalid topology', 'wrote w-1', 'done w-1'],
        failure: undefined,
      });
    });
  test('because it cannot be reached is a failure, and the others go on', async () => {
    const error = new Unavailable('connection refused');
    assert.deepEqual(await tryIt(error), { told: ['wrote w-0', 'wrote w-1', 'done w-1'], failure: error });
  });
});

describe('no list is believed of a node that we changed', () => {
  const change = async (action: WorkerAction, error?: Error) => {
    const told: string[] = [];
    const gateway = {
      updateNode: async () => {
        if (error !== undefined) throw error;
      },
    } as unknown as SlurmGateway;
    await act(
      [action],
      actContext({
        gateway,
        wrote: (name, stillForMs = 0) => void told.push(`${name} for ${stillForMs}`),
        parallel: 1,
      }),
    ).catch(() => undefined);
    return told;
  };
  const undrain: WorkerAction = { kind: 'undrain', slurmName: 'w-0' };
  const drain: WorkerAction = { kind: 'drain', slurmName: 'w-0', reason: 'x' };
  const silence = new Unavailable('no answer in time');
  const refusal = new Refused('no', { text: 'no' });
  for (const [reason, action, error, told] of [
    ['before the change was answered', undrain, undefined, 'w-0 for 0'],
    ['for a while, if an undrain was not: it may yet be obeyed', undrain, silence, 'w-0 for 30000'],
    ['before it was refused', undrain, refusal, 'w-0 for 0'],
    ['before a drain failed: one that comes late does no harm', drain, silence, 'w-0 for 0'],
  ] as const)
    test(reason, async () => assert.deepEqual(await change(action, error), [told]));
});

test('all that changes on a pod goes in one request, with its status if that changes too', async () => {
  const sent: unknown[] = [];
  const client = {
    patch: async (_resource: object, ref: { name: string }, { body }: { body: object }, options: object) => {
      sent.push({ name: ref.name, body, subresource: (options as { subresource?: string }).subresource });
    },
  } as unknown as Client;
  const conditions = new Map([['SlurmNodeStateMixed', '']]);
  await act(
    [
      { kind: 'patch-worker', name: 'w-0', uid: 'u', protect: true, deadline: 0 },
      { kind: 'mirror-state', name: 'w-0', uid: 'u', conditions, over: ['SlurmNodeStateIdle'] },
      { kind: 'patch-worker', name: 'w-1', uid: 'v', topology: null },
    ],
    actContext({
      client,
    }),
  );
  const lastTransitionTime = '1970-01-01T00:00:00Z';
  assert.deepEqual(sent, [
    {
      name: 'w-0',
      subresource: 'status',
      body: {
        metadata: {
          uid: 'u',
          labels: { 'nodeset.slinky.slurm.net/pod-protect': 'true' },
          annotations: { 'nodeset.slinky.slurm.net/pod-deadline': lastTransitionTime },
        },
        status: {
          conditions: [
            { type: 'SlurmNodeStateMixed', status: 'True', message: '', lastTransitionTime },
            { $patch: 'delete', type: 'SlurmNodeStateIdle' },
          ],
        },
      },
    },
    {
      name: 'w-1',
      subresource: undefined,
      body: { metadata: { uid: 'v', labels: {}, annotations: { 'topology.slinky.slurm.net/spec': '' } } },
    },
  ]);
});

describe('what is only told', () => {
  const told: WorkerAction[] = [
    { kind: 'update-node', slurmName: 'w-0', comment: 'here' },
    { kind: 'patch-worker', name: 'w-0', uid: 'u', topology: 'rack1' },
    { kind: 'patch-worker', name: 'w-1', uid: 'v', protect: true },
    { kind: 'mirror-state', name: 'w-1', uid: 'v', conditions: new Map(), over: [] },
    { kind: 'create-worker', slot: { mode: 'StatefulSet', ordinal: 2 } },
    { kind: 'drain', slurmName: 'w-3', reason: 'x' },
  ];
  const run = async (moreToCreate: boolean, createWorker: () => Promise<void>) => {
    const done: string[] = [];
    const context = {
      client: { patch: async () => ({}) } as unknown as Client,
      gateway: { updateNode: async () => undefined } as unknown as SlurmGateway,
      nodeSet: { metadata: { name: 'w', namespace: 'slurm' } } as unknown as NodeSet,
      createWorker,
      wrote: () => undefined,
      refused: () => undefined,
      storeRequeueable: async () => undefined,
      requeueable: () => undefined,
      done: (action: WorkerAction) => void done.push(action.kind),
      signal: AbortSignal.timeout(60_000),
      now: () => 0,
      parallel: 1,
      moreToCreate,
    };
    await act(told, context).catch(() => done.push('failed'));
    return done;
  };
  const first = ['patch-worker', 'mirror-state', 'drain'];

  test('comes after the workers that are made; a protection, and what is told with it, does not', async () => {
    const order = [...first, 'create-worker', 'patch-worker', 'update-node'];
    assert.deepEqual(await run(false, async () => undefined), order);
  });

  test('waits while more workers are to be made', async () => {
    assert.deepEqual(await run(true, async () => undefined), [...first, 'create-worker']);
  });

  test('does not wait for workers that cannot be made', async () => {
    const refuse = async () => {
      throw new Error('quota');
    };
    assert.deepEqual(await run(true, refuse), [...first, 'patch-worker', 'update-node', 'failed']);
  });
});
