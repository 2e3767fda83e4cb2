import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { NodeSet } from '@slurm-operator/api';
import type { Client } from '@slurm-operator/kube';
import { NotSupported, Refused, Unavailable } from '@slurm-operator/slurm';
import { CountedReads } from '../../../testing/counted-reads.ts';
import type { Action, SafeBecause } from '../plan/actions.ts';
import type { NodesView, SlurmGateway } from '../slurm-gateway.ts';
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
    refused: () => undefined,
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

describe('what a delete is confirmed by', () => {
  const node = (flags: string[]) => ({ name: 'w-1', state: { base: 'IDLE', flags: new Set(flags) } });
  const list = (at: number, nodes: object[]): NodesView =>
    ({ kind: 'known', at, nodes, deadlines: new Map(), controllerStartedAt: 0 }) as unknown as NodesView;
  const drained = [node(['DRAIN'])];
  const resumed = [node([])];
  const cases: readonly [
    reason: string,
    because: SafeBecause,
    newest: NodesView,
    fresh: NodesView,
    gone: boolean,
  ][] = [
    ['a young list shows it drained', 'drained', list(9_000, drained), list(10_000, resumed), true],
    [
      'a young list shows that somebody undrained it',
      'drained',
      list(9_000, resumed),
      list(10_000, drained),
      false,
    ],
    ['an old list is asked for again', 'drained', list(8_000, drained), list(10_000, resumed), false],
    ['an unknown node is asked for again', 'unknown-to-slurm', list(9_900, []), list(10_000, resumed), false],
    [
      'a drain by somebody else is asked for again',
      'drained-by-other',
      list(9_900, drained),
      list(10_000, resumed),
      false,
    ],
    [
      'a drain by somebody else that stays',
      'drained-by-other',
      list(9_900, drained),
      list(10_000, drained),
      true,
    ],
    ['a drain that went with its record', 'drained', list(9_900, []), list(10_000, []), false],
    [
      'a record that does not respond is no drained one',
      'unknown-to-slurm',
      list(9_900, []),
      list(10_000, [node(['NOT_RESPONDING'])]),
      false,
    ],
    [
      'no answer is no confirmation of an absence',
      'unknown-to-slurm',
      list(9_900, []),
      { kind: 'unknown', since: 0, why: 'down' },
      false,
    ],
    ['an unknown node that stays unknown', 'unknown-to-slurm', list(9_900, []), list(10_000, []), true],
    [
      'no answer is no confirmation',
      'drained',
      list(1_000, drained),
      { kind: 'unknown', since: 0, why: 'down' },
      false,
    ],
  ];
  for (const [reason, because, newest, fresh, gone] of cases)
    test(reason, async () => {
      const done: string[] = [];
      const client = { delete: async () => true } as unknown as Client;
      const gateway = { view: () => newest, freshView: async () => fresh } as unknown as SlurmGateway;
      await act(
        [{ kind: 'delete-worker', name: 'w-1', uid: 'v', slurmName: 'w-1', because, why: 'update' }],
        {
          client,
          gateway,
          nodeSet: { metadata: { name: 'w', namespace: 'slurm' } } as unknown as NodeSet,
          createWorker: async () => undefined,
          wrote: () => undefined,
          refused: () => undefined,
          done: (action: Action) => void done.push(action.kind),
          signal: AbortSignal.timeout(5_000),
          now: () => 10_000,
          parallel: 4,
        },
      );
      assert.deepEqual(done, gone ? ['delete-worker'] : []);
    });
});

test('law L11: set down is only what a list asked for now still shows as the dead one', async () => {
  const ended = 10_000;
  const listed = (slurmdStartedAt: number | undefined, name = 'w-0'): NodesView =>
    ({ kind: 'known', at: 1, nodes: [{ name, slurmdStartedAt }] }) as unknown as NodesView;
  const down: NodesView = { kind: 'unknown', since: 0, why: 'down' };
  for (const [reason, fresh, expected] of [
    ['it is', listed(9_000), ['w-0 DOWN', 'done']],
    ['slurmd has been restarted meanwhile', listed(10_000), []],
    ['its record is gone', listed(9_000, 'w-1'), []],
    ['Slurm does not answer', down, []],
  ] as const) {
    const told: string[] = [];
    const gateway = {
      freshView: async () => fresh,
      updateNode: async (name: string, { state }: { state: string }) => void told.push(`${name} ${state}`),
    } as unknown as SlurmGateway;
    await act([{ kind: 'set-down', slurmName: 'w-0', reason: 'ended', endedAt: ended }], {
      client: {} as Client,
      gateway,
      nodeSet: { metadata: { name: 'w', namespace: 'slurm' } } as unknown as NodeSet,
      createWorker: async () => undefined,
      wrote: () => undefined,
      refused: () => undefined,
      done: () => void told.push('done'),
      signal: AbortSignal.timeout(60_000),
      now: () => 0,
      parallel: 1,
    });
    assert.deepEqual(told, expected, reason);
  }
});

test('an absence is asked for anew for as many deletes as are sent at once', async () => {
  const told: string[] = [];
  const client = {
    delete: async (_: object, { name }: { name: string }) => void told.push(name),
  } as unknown as Client;
  const fresh: NodesView = {
    kind: 'known',
    at: 1,
    nodes: [],
    deadlines: new Map(),
    controllerStartedAt: 0,
  };
  const gateway = {
    freshView: async () => {
      told.push('list');
      return fresh;
    },
  } as unknown as SlurmGateway;
  const going = (name: string): Action => ({
    kind: 'delete-worker',
    name,
    uid: name,
    slurmName: name,
    because: 'unknown-to-slurm',
    why: 'deletion',
  });
  await act(['a', 'b', 'c', 'd', 'e'].map(going), {
    client,
    gateway,
    nodeSet: { metadata: { name: 'w', namespace: 'slurm' } } as unknown as NodeSet,
    createWorker: async () => undefined,
    wrote: () => undefined,
    refused: () => undefined,
    done: () => undefined,
    signal: AbortSignal.timeout(60_000),
    now: () => 0,
    parallel: 2,
  });
  assert.deepEqual(told, ['list', 'a', 'b', 'list', 'c', 'd', 'list', 'e']);
});

describe('an update of a node that Slurm does not take', () => {
  const update: Action = { kind: 'update-node', slurmName: 'w-0', topology: 'topo:nowhere', comment: '{}' };
  const tryIt = async (error: Error) => {
    const told: unknown[] = [];
    const gateway = {
      updateNode: async (name: string) => {
        if (name === 'w-0') throw error;
      },
    } as unknown as SlurmGateway;
    const context = {
      client: {} as Client,
      gateway,
      nodeSet: { metadata: { name: 'w', namespace: 'slurm' } } as unknown as NodeSet,
      createWorker: async () => undefined,
      wrote: (name: string) => void told.push(`wrote ${name}`),
      refused: ({ slurmName, topology }: { slurmName: string; topology?: string }, words: string) =>
        void told.push(`${slurmName} ${topology}: ${words}`),
      done: (action: Action) => void told.push('slurmName' in action ? `done ${action.slurmName}` : ''),
      signal: AbortSignal.timeout(60_000),
      now: () => 0,
      parallel: 1,
    };
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
    test(`${reason} is told of in its words, and stops nothing`, async () => {
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
    {
      client,
      gateway: undefined,
      nodeSet: { metadata: { name: 'w', namespace: 'slurm' } } as unknown as NodeSet,
      createWorker: async () => undefined,
      wrote: () => undefined,
      refused: () => undefined,
      done: () => undefined,
      signal: AbortSignal.timeout(5_000),
      now: () => 0,
      parallel: 4,
    },
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
  const told: Action[] = [
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
      done: (action: Action) => void done.push(action.kind),
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

test('many deletes are confirmed by one reading of the list', async () => {
  const reads = async (count: number) => {
    const names = Array.from({ length: count }, (_, index) => `w-${index}`);
    const counted = new CountedReads();
    const nodes = counted.list(
      names.map((name) => ({ name, state: { base: 'IDLE', flags: new Set(['DRAIN']) } })),
    );
    const view = {
      kind: 'known',
      at: 0,
      nodes,
      deadlines: new Map(),
      controllerStartedAt: 0,
    } as unknown as NodesView;
    let deleted = 0;
    const deletes = names.map((name): Action => {
      return { kind: 'delete-worker', name, uid: name, slurmName: name, because: 'drained', why: 'update' };
    });
    await act(deletes, {
      client: { delete: async () => (deleted += 1) } as unknown as Client,
      gateway: { view: () => view } as unknown as SlurmGateway,
      nodeSet: { metadata: { name: 'w', namespace: 'slurm' } } as unknown as NodeSet,
      createWorker: async () => undefined,
      wrote: () => undefined,
      refused: () => undefined,
      done: () => undefined,
      signal: AbortSignal.timeout(60_000),
      now: () => 0,
      parallel: 4,
    });
    assert.equal(deleted, count);
    return counted.count;
  };
  assert.ok((await reads(400)) <= (await reads(100)) * 5);
});
