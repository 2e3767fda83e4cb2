/** The second look: what a delete, or a node that is set down, is confirmed by. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Client } from '@slurm-operator/kube';
import { actContext } from '../../../../testing/act-context.ts';
import { CountedReads } from '../../../../testing/counted-reads.ts';
import type { NodesView, SlurmGateway } from '../../../slurm-connection/slurm-gateway.ts';
import type { SafeBecause, WorkerAction } from '../model/actions.ts';
import { act } from './act.ts';

describe('what a delete is confirmed by', () => {
  const node = (flags: string[], reason = 'slurm-operator: going') => ({
    name: 'w-1',
    reason,
    state: { base: 'IDLE', flags: new Set(flags) },
  });
  const list = (at: number, nodes: object[]): NodesView =>
    ({
      kind: 'known',
      at,
      nodes,
      deadlines: new Map(),
      jobsUnknown: undefined,
      jobsAfterNodes: true,
      controllerStartedAt: 0,
    }) as unknown as NodesView;
  const drained = [node(['DRAIN'])];
  const resumed = [node([])];
  const theirs = [node(['DRAIN'], 'bad GPU')];
  const cases: readonly [
    reason: string,
    because: SafeBecause,
    newest: NodesView,
    fresh: NodesView,
    gone: boolean,
  ][] = [
    ['a young list shows it drained', 'drained', list(9_000, drained), list(10_000, resumed), true],
    [
      'a recent list shows that a user undrained it',
      'drained',
      list(9_000, resumed),
      list(10_000, drained),
      false,
    ],
    [
      'a young list shows that the drain is not ours any more',
      'drained',
      list(9_000, theirs),
      list(10_000, theirs),
      false,
    ],
    [
      'a list from before the clock was set back',
      'drained',
      list(11_000, drained),
      list(10_000, resumed),
      false,
    ],
    [
      'a young list whose jobs were listed before it is asked for again',
      'drained',
      { ...list(9_000, drained), jobsAfterNodes: false } as NodesView,
      list(10_000, resumed),
      false,
    ],
    [
      'the jobs are not known: its only job may be suspended',
      'drained',
      list(8_000, drained),
      { ...list(10_000, drained), jobsUnknown: 'a list of jobs failed' } as NodesView,
      false,
    ],
    ['an old list is asked for again', 'drained', list(8_000, drained), list(10_000, resumed), false],
    ['an unknown node is asked for again', 'unknown-to-slurm', list(9_900, []), list(10_000, resumed), false],
    [
      'a user’s drain is queried again',
      'drained-by-other',
      list(9_900, drained),
      list(10_000, resumed),
      false,
    ],
    ['a user’s drain that stays', 'drained-by-other', list(9_900, theirs), list(10_000, theirs), true],
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
        actContext({
          client,
          gateway,
          done: (action: WorkerAction) => void done.push(action.kind),
          now: () => 10_000,
        }),
      );
      assert.deepEqual(done, gone ? ['delete-worker'] : []);
    });
});

test('an absence is queried again for each batch of deletes', async () => {
  const told: string[] = [];
  const client = {
    delete: async (_: object, { name }: { name: string }) => void told.push(name),
  } as unknown as Client;
  const fresh: NodesView = {
    kind: 'known',
    at: 1,
    nodes: [],
    deadlines: new Map(),
    jobsUnknown: undefined,
    jobsAfterNodes: true,
    controllerStartedAt: 0,
  };
  const gateway = {
    freshView: async () => {
      told.push('list');
      return fresh;
    },
  } as unknown as SlurmGateway;
  const going = (name: string): WorkerAction => ({
    kind: 'delete-worker',
    name,
    uid: name,
    slurmName: name,
    because: 'unknown-to-slurm',
    why: 'deletion',
  });
  await act(
    ['a', 'b', 'c', 'd', 'e'].map(going),
    actContext({
      client,
      gateway,
      parallel: 2,
    }),
  );
  assert.deepEqual(told, ['list', 'a', 'b', 'list', 'c', 'd', 'list', 'e']);
});

test('what we drained is looked at again for as many deletes as are sent at once', async () => {
  const told: string[] = [];
  let resumed = false;
  const client = {
    delete: async (_: object, { name }: { name: string }) => {
      told.push(name);
      resumed = true; // a user ends the other drains after the first deletes
    },
  } as unknown as Client;
  const nodes = (flags: string[]) =>
    ['a', 'b', 'c'].map((name) => ({
      name,
      reason: 'slurm-operator: going',
      state: { base: 'IDLE', flags: new Set(flags) },
    }));
  const gateway = {
    view: () => ({ kind: 'known', at: 0, jobsAfterNodes: true, nodes: nodes(resumed ? [] : ['DRAIN']) }),
  } as unknown as SlurmGateway;
  const going = (name: string): WorkerAction => ({
    kind: 'delete-worker',
    name,
    uid: name,
    slurmName: name,
    because: 'drained',
    why: 'scale-in',
  });
  await act(
    ['a', 'b', 'c'].map(going),
    actContext({
      client,
      gateway,
      parallel: 2,
    }),
  );
  assert.deepEqual(told, ['a', 'b']);
});

test('in a large cluster the second look reads the nodes that are to go, and a list only where that is cheaper', async () => {
  const node = (name: string, base = 'IDLE') => ({
    name,
    reason: 'slurm-operator: going',
    state: { base, flags: new Set(['DRAIN']) },
  });
  const known = (nodes: readonly object[], at: number) =>
    ({ kind: 'known', at, jobsAfterNodes: true, nodes }) as unknown as NodesView;
  for (const [reason, size, base, expected] of [
    ['large, still drained', 1_000, 'IDLE', ['read a', 'a']],
    ['large, and a job runs there after all', 1_000, 'ALLOCATED', ['read a']],
    ['small', 10, 'IDLE', ['list', 'a']],
  ] as const) {
    const told: string[] = [];
    const all = [node('a'), ...Array.from({ length: size }, (_, index) => node(`n${index}`))];
    const gateway = {
      // Older than a list may be.
      view: () => known(all, -10_000),
      freshView: async () => {
        told.push('list');
        return known([node('a', base)], 0);
      },
      freshNodes: async (names: readonly string[]) => {
        told.push(`read ${names.join()}`);
        return known([node('a', base)], 0);
      },
    } as unknown as SlurmGateway;
    const client = {
      delete: async (_: object, { name }: { name: string }) => void told.push(name),
    } as unknown as Client;
    const because = 'drained';
    await act(
      [{ kind: 'delete-worker', name: 'a', uid: 'a', slurmName: 'a', because, why: 'scale-in' }],
      actContext({ client, gateway }),
    );
    assert.deepEqual(told, expected, reason);
  }
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
    await act(
      [{ kind: 'set-down', slurmName: 'w-0', reason: 'ended', endedAt: ended }],
      actContext({
        gateway,
        done: () => void told.push('done'),
        parallel: 1,
      }),
    );
    assert.deepEqual(told, expected, reason);
  }
});

test('a node that a person set DOWN is drained only if a list asked for now still shows it so', async () => {
  const listed = (base: string, reason: string): NodesView =>
    ({
      kind: 'known',
      at: 1,
      nodes: [{ name: 'w-0', reason, state: { base, flags: new Set() } }],
    }) as unknown as NodesView;
  const down: NodesView = { kind: 'unknown', since: 0, why: 'down' };
  for (const [reason, fresh, expected] of [
    ['it is', listed('DOWN', 'bad GPU'), ['w-0 DRAIN bad GPU', 'done']],
    ['it was resumed meanwhile', listed('IDLE', ''), []],
    ['it is down for another reason', listed('DOWN', 'Not responding'), []],
    ['Slurm does not answer', down, []],
  ] as const) {
    const told: string[] = [];
    const gateway = {
      freshView: async () => fresh,
      updateNode: async (name: string, update: { state: string; reason: string }) =>
        void told.push(`${name} ${update.state} ${update.reason}`),
    } as unknown as SlurmGateway;
    await act(
      [{ kind: 'keep-down', slurmName: 'w-0', reason: 'bad GPU' }],
      actContext({ gateway, done: () => void told.push('done'), parallel: 1 }),
    );
    assert.deepEqual(told, expected, reason);
  }
});

test('many deletes are confirmed by one reading of the list', async () => {
  const reads = async (count: number) => {
    const names = Array.from({ length: count }, (_, index) => `w-${index}`);
    const counted = new CountedReads();
    const nodes = counted.list(
      names.map((name) => ({
        name,
        reason: 'slurm-operator: x',
        state: { base: 'IDLE', flags: new Set(['DRAIN']) },
      })),
    );
    const view = {
      kind: 'known',
      at: 0,
      nodes,
      deadlines: new Map(),
      jobsAfterNodes: true,
      controllerStartedAt: 0,
    } as unknown as NodesView;
    let deleted = 0;
    const deletes = names.map((name): WorkerAction => {
      return { kind: 'delete-worker', name, uid: name, slurmName: name, because: 'drained', why: 'update' };
    });
    await act(
      deletes,
      actContext({
        client: { delete: async () => (deleted += 1) } as unknown as Client,
        gateway: { view: () => view } as unknown as SlurmGateway,
      }),
    );
    assert.equal(deleted, count);
    return counted.count;
  };
  assert.ok((await reads(400)) <= (await reads(100)) * 5);
});
