/** What Slurm is asked for when a wake-up is abandoned. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { parseNodeState, type SlurmJob, type SlurmNode } from '@slurm-operator/slurm';
import { actContext } from '../../../../testing/act-context.ts';
import { now, observed } from '../../../../testing/observed.ts';
import type { NodesView, SlurmGateway } from '../../../slurm-connection/slurm-gateway.ts';
import { emptyMemory, rememberedFacts, requeueableJobs, withNotes, withObservation } from '../plan/memory.ts';
import { planWorkers } from '../plan/plan-workers.ts';
import { act } from './act.ts';
import { failWake } from './power-writes.ts';

const node = (name: string, ...flags: string[]) =>
  ({ name, state: parseNodeState(['MIXED', 'CLOUD', ...flags]), reason: '' }) as unknown as SlurmNode;
const job = (id: number, nodes: string, requeueable: boolean) =>
  ({ id, nodes, requeueable }) as unknown as SlurmJob;

/** What is requested of Slurm, in order. */
async function requested(over: Partial<Extract<NodesView, { kind: 'known' }>>, refuses = false) {
  const asked: string[] = [];
  const view = {
    kind: 'known',
    at: 0,
    nodes: [node('w-0', 'POWERING_UP'), node('w-1')],
    deadlines: new Map(),
    jobsUnknown: undefined,
    jobsAfterNodes: true,
    controllerStartedAt: 0,
    ...over,
  } as const;
  const gateway = {
    freshView: async () => view,
    updateJob: async (id: string, update: object) => void asked.push(`job ${id} ${JSON.stringify(update)}`),
    updateNode: async (names: readonly string[], { state }: { state: string }) => {
      asked.push(`${state} ${names.join()}`);
      if (refuses) throw new Error('no answer');
    },
  } as unknown as SlurmGateway;
  const action = {
    kind: 'fail-wake',
    slurmNames: ['w-0', 'w-1'],
    reason: 'slurm-operator: no machine',
    resumeAfterSeconds: 60,
    jobs: [{ id: '7', adminComment: 'why' }],
  } as const;
  const done = failWake(action, actContext({ gateway }));
  await (refuses ? assert.rejects(done, /no answer/) : done);
  return asked;
}

const told = ['DOWN w-0', 'POWER_DOWN w-0'];
const why = 'job 7 {"adminComment":"why"}';

test('only nodes that Slurm still waits for are set down, and their jobs are told why', async () => {
  assert.deepEqual(await requested({ wakingJobs: [job(7, 'w-0', true)] }), [...told, why]);
  assert.deepEqual(await requested({ nodes: [node('w-0'), node('w-1')] }), []);
});

test('a job that may not be requeued may be for that moment, because before 25.05 it would end with its nodes', async () => {
  const wakingJobs = [job(7, 'w-[0-1]', false), job(8, 'w-1', false)];
  assert.deepEqual(await requested({ wakingJobs }), [
    'job 7 {"requeue":true}',
    ...told,
    'job 7 {"requeue":false}',
    why,
  ]);
  assert.deepEqual(await requested({ wakingJobs }, true), [
    'job 7 {"requeue":true}',
    'DOWN w-0',
    'job 7 {"requeue":false}',
  ]);
});

test('while Slurm does not let a job be forbidden to requeue, that is remembered, and no other job waits for it', async () => {
  const requeue = new Map([7, 8, 9].map((id) => [String(id), false]));
  let silent = new Set(['7']);
  const gateway = {
    freshView: async () => ({
      kind: 'known',
      nodes: [node('w-0', 'POWERING_UP')],
      wakingJobs: [7, 8, 9].map((id) => job(id, 'w-0', false)),
    }),
    updateNode: async () => undefined,
    updateJob: async (id: string, update: { requeue: boolean }) => {
      if (silent.has(id) && !update.requeue) throw new Error('no answer');
      requeue.set(id, update.requeue);
    },
  } as unknown as SlurmGateway;
  let memory = emptyMemory;
  const context = actContext({
    gateway,
    requeueable: (id, requeueable) =>
      (memory = withNotes(memory, [{ type: 'requeueable', job: id, requeueable }])),
  });
  const action = {
    kind: 'fail-wake',
    slurmNames: ['w-0'],
    reason: 'slurm-operator: no machine',
    resumeAfterSeconds: 60,
    jobs: [],
  } as const;
  await assert.rejects(failWake(action, context), /no answer/);
  assert.deepEqual(Object.fromEntries(requeue), { 7: true, 8: false, 9: false });

  const retried = () => planWorkers(observed([], [], rememberedFacts(memory)), now).actions;
  assert.deepEqual(retried(), [{ kind: 'forbid-requeue', jobs: ['7'] }]);
  silent = new Set();
  await act(retried(), context);
  assert.deepEqual(Object.fromEntries(requeue), { 7: false, 8: false, 9: false });
  assert.deepEqual(retried(), []);
});

test('an operator that was killed before it forbade the requeue again has noted the job, and the next one forbids it', async () => {
  const stored: string[] = [];
  const steps: string[] = [];
  const requeue = new Map([['7', false]]);
  let isKilled = false;
  const alive = <T>(work: () => T): Promise<T> =>
    isKilled ? new Promise(() => undefined) : Promise.resolve(work());
  const gateway = {
    freshView: async () => ({
      kind: 'known',
      nodes: [node('w-0', 'POWERING_UP')],
      wakingJobs: [job(7, 'w-0', false)],
    }),
    updateNode: (_names: readonly string[], { state }: { state: string }) =>
      alive(() => {
        steps.push(state);
        isKilled = state === 'DOWN';
      }),
    updateJob: (id: string, update: { requeue: boolean }) =>
      alive(() => {
        steps.push(`requeue ${update.requeue}`);
        requeue.set(id, update.requeue);
      }),
  } as unknown as SlurmGateway;
  const storeRequeueable = async (jobs: readonly string[]) => {
    steps.push('stored');
    stored.push(...jobs);
  };
  const action = {
    kind: 'fail-wake',
    slurmNames: ['w-0'],
    reason: 'slurm-operator: no machine',
    resumeAfterSeconds: 60,
    jobs: [],
  } as const;
  void failWake(action, actContext({ gateway, storeRequeueable }));
  await setImmediate();
  assert.deepEqual(steps, ['stored', 'requeue true', 'DOWN']);
  assert.equal(requeue.get('7'), true, 'the flag stays when the operator is killed here');

  isKilled = false;
  const facts = (status: readonly string[]) =>
    observed([], [], { requeueable: new Set(status), autoscale: undefined });
  let memory = withObservation(emptyMemory, facts(stored), now);
  const { actions } = planWorkers({ ...facts([]), ...rememberedFacts(memory) }, now);
  assert.deepEqual(actions, [{ kind: 'forbid-requeue', jobs: ['7'] }]);
  assert.deepEqual(requeueableJobs(memory.requeueable), { requeueableJobs: ['7'] }, 'it stays in the status');
  const context = actContext({
    gateway,
    requeueable: (id, requeueable) =>
      (memory = withNotes(memory, [{ type: 'requeueable', job: id, requeueable }])),
  });
  await act(actions, context);
  assert.equal(requeue.get('7'), false);
  assert.deepEqual(requeueableJobs(memory.requeueable), {});
  const later = withObservation(memory, facts(stored), now);
  assert.equal(later.requeueable?.size, 0, 'a status that is older than the memory does not bring it back');
});

test('a NodeSet is not released while such a job can be requeued', () => {
  const given = observed([], [], { deleting: true, requeueable: new Set(['7']) });
  const kinds = (some: typeof given) => planWorkers(some, now).actions.map(({ kind }) => kind);
  assert.deepEqual(kinds(given), ['forbid-requeue']);
  assert.deepEqual(kinds({ ...given, requeueable: new Set() }), ['remove-finalizer']);
});

test('the requeue is forbidden before a wake-up is abandoned again: both at once could end the job', async () => {
  const steps: string[] = [];
  const gateway = {
    freshView: async () => ({
      kind: 'known',
      nodes: [node('w-0', 'POWERING_UP')],
      wakingJobs: [job(7, 'w-0', false)],
    }),
    updateNode: async (_names: readonly string[], { state }: { state: string }) => void steps.push(state),
    updateJob: async (_id: string, { requeue }: { requeue: boolean }) => {
      await setImmediate();
      steps.push(`requeue ${requeue}`);
    },
  } as unknown as SlurmGateway;
  const failing = {
    kind: 'fail-wake',
    slurmNames: ['w-0'],
    reason: 'slurm-operator: no machine',
    resumeAfterSeconds: 60,
    jobs: [],
  } as const;
  await act([failing, { kind: 'forbid-requeue', jobs: ['7'] }], actContext({ gateway }));
  assert.deepEqual(steps, ['requeue false', 'requeue true', 'DOWN', 'POWER_DOWN', 'requeue false']);
});

test('nothing is set down while the jobs are unknown, or one that waits for nodes is yet to be read', async () => {
  assert.deepEqual(await requested({ someWakingUnread: true }), []);
  assert.deepEqual(await requested({ jobsUnknown: 'the list of jobs failed' }), []);
});
