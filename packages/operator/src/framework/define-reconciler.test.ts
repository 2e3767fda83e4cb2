import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { type Live, type ReconcileContext, services } from '@slurm-operator/kube';
import { aRestApi } from '../../testing/objects.ts';
import { restApis } from '../cache/resources.ts';
import { type CustomAction, describeActions, Sensitive } from './actions.ts';
import { defineReconciler, type Plan, type ReconcilerManager } from './define-reconciler.ts';

interface Ring extends CustomAction {
  readonly type: 'Ring';
}
const service = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'hpc' },
});
const apply = (name: string, needs?: readonly string[]) => ({
  type: 'Apply' as const,
  resource: services,
  object: service(name),
  ...(needs === undefined ? {} : { needs }),
});

/** A manager whose applies fail by name; what was asked of it is kept. */
function stage(failing: readonly string[] = []) {
  const log: string[] = [];
  const written: { status: { observedGeneration?: number; conditions: { message: string }[] } }[] = [];
  let object = aRestApi() as Live<ReturnType<typeof aRestApi>> | undefined;
  const manager = {
    cache: { get: () => object },
    client: {
      apply: (_: unknown, body: (typeof written)[number]) => {
        log.push('status');
        written.push(body);
        return Promise.resolve({ ...object, status: body.status });
      },
    },
    owned: {
      apply: (_: unknown, __: unknown, { metadata: { name } }: { metadata: { name: string } }) => {
        log.push(`apply ${name}`);
        return failing.includes(name) ? Promise.reject(new Error(`no ${name}`)) : Promise.resolve();
      },
    },
    recorder: { warning: () => {} },
  } as unknown as ReconcilerManager;
  return { manager, log, written, change: (next: typeof object) => (object = next) };
}
const request = { key: 'hpc/slurm', namespace: 'hpc', name: 'slurm' };
const context = {
  signal: new AbortController().signal,
  clock: { now: () => 5_000 },
} as unknown as ReconcileContext;

test('actions are carried out in order; what needs a failed one is skipped, and the failure is thrown after the status', async () => {
  const { manager, log, written } = stage(['b']);
  const plan: Plan<Ring> = {
    actions: [
      apply('a'),
      apply('b'),
      apply('c', ['Service b']),
      { type: 'Ring', title: 'bell' },
      apply('d', ['Service c']),
    ],
    problems: [{ reason: 'InvalidSpec', message: 'a problem of the plan' }],
  };
  assert.deepEqual(describeActions(plan.actions).slice(2, 4), [
    'apply Service c after Service b',
    'ring bell',
  ]);
  const done: boolean[] = [];
  const reconcile = defineReconciler(manager, {
    resource: restApis,
    observe: () => 'seen',
    plan: () => plan,
    act: (action: Ring) => Promise.resolve(log.push(action.title)),
    status: ({ observed, problems, plan: planned, succeeded }) => {
      done.push(...planned.actions.map(succeeded));
      const message = [observed, ...problems.map((one) => one.message)].join(' | ');
      return { conditions: [{ type: 'Ready', status: 'False', reason: 'InvalidSpec', message }] };
    },
  });
  await assert.rejects(Promise.resolve(reconcile(request, context)), /Service b/);
  assert.deepEqual(log, ['apply a', 'apply b', 'bell', 'status']);
  assert.deepEqual(done, [true, false, false, true, false]);
  assert.match(
    written[0]?.status.conditions[0]?.message ?? '',
    /^seen \| a problem of the plan \| Service b: /,
  );
});

test('the status names the generation that was observed, and the next look is at least a second away', async () => {
  const { manager, written, change } = stage();
  const reconcile = defineReconciler(manager, {
    resource: restApis,
    observe: (object) => {
      change({ ...object, metadata: { ...object.metadata, generation: 2 } });
    },
    plan: () => ({ actions: [], problems: [], lookAgainAt: 5_100 }),
    status: () => ({ conditions: [] }),
  });
  assert.deepEqual(await reconcile(request, context), { requeueAfter: 1_000 });
  assert.equal(written[0]?.status.observedGeneration, 1);
});

test('an object that does not exist, or is being deleted, is left alone', async () => {
  const { manager, log, change } = stage();
  const reconcile = defineReconciler(manager, {
    resource: restApis,
    observe: () => assert.fail('nothing to observe'),
    plan: () => ({ actions: [], problems: [] }),
    status: () => ({ conditions: [] }),
  });
  change(undefined);
  assert.equal(await reconcile(request, context), undefined);
  const object = aRestApi() as Live<ReturnType<typeof aRestApi>>;
  change({ ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });
  assert.equal(await reconcile(request, context), undefined);
  assert.deepEqual(log, []);
});

test('a sensitive value is in no print of the plan that holds it', () => {
  const password = new Sensitive('hunter2');
  for (const text of [JSON.stringify({ password }), inspect({ password }), String(password)])
    assert.doesNotMatch(text, /hunter2/);
  assert.equal(password.reveal(), 'hunter2');
});
