/** The NodeSet plan as a whole. Its parts have tests beside them; the laws over whole histories are in plan.laws.test.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { now, observed, slurmNode, worker } from '../../../../testing/observed.ts';
import { isHealthy } from '../model/availability.ts';
import type { Observed, SlurmNode, Worker } from '../model/observed.ts';
import { planWorkers } from './plan-workers.ts';
import { joinsWithin } from './safe-to-delete.ts';

const ours = 'slurm-operator: Pod (slurm/w-0) is pending termination for scale-in';

/** What is decided; that conditions follow Slurm's state has a test of its own. */
const kinds = (given: Observed) =>
  planWorkers(given, now)
    .actions.map((action) => action.kind)
    .filter((kind) => kind !== 'mirror-state');

const busy = { base: 'ALLOCATED' as const, deadline: now + 60_000 };

test('an unchanged NodeSet asks for nothing', () => {
  assert.deepEqual(
    planWorkers(observed([worker(0), worker(1)], [slurmNode(0), slurmNode(1)]), now).actions,
    [],
  );
});

test('upstream item 1: without a view of Slurm no started worker is deleted', () => {
  const unknown = { kind: 'unknown', since: 0, why: 'connection refused' } as const;
  const made = planWorkers(observed([worker(0)], [], { replicas: 0, slurm: unknown }), now);
  assert.deepEqual(
    made.actions.map((action) => action.kind),
    ['patch-worker'],
    'the cordon is written, nothing else',
  );
  assert.match(made.withheld.join(), /connection refused/);
});

test('a list that began before our last change was answered is looked past soon, not at the next news', () => {
  const drained = slurmNode(0, { flags: new Set(['DRAIN']), reason: ours });
  const behind = observed([worker(0), worker(1)], [drained, slurmNode(1)], {
    replicas: 1,
    lastWrites: new Map([['w-0', now]]),
  });
  assert.equal(planWorkers(behind, now).wakeAt, now + 1000);
  const level = { ...behind, lastWrites: new Map([['w-0', now - 60_000]]) };
  assert.equal(planWorkers(level, now).wakeAt, undefined);
});

test('upstream item 15 and law L6: deletion drains, unless the user or the missing cluster says otherwise', () => {
  const running = [slurmNode(0, busy)];
  assert.ok(!kinds(observed([worker(0)], running, { deleting: true })).includes('delete-worker'));
  assert.ok(
    kinds(observed([worker(0)], running, { deleting: true, deletionPolicy: 'Delete' })).includes(
      'delete-worker',
    ),
  );
  assert.ok(
    kinds(
      observed([worker(0)], [], {
        deleting: true,
        controllerExists: false,
        slurm: { kind: 'unknown', since: 0, why: 'gone' },
      }),
    ).includes('delete-worker'),
  );
  assert.deepEqual(kinds(observed([], [], { deleting: true })), ['remove-finalizer']);
  assert.deepEqual(
    kinds(observed([], [], { deleting: true, slurm: { kind: 'unknown', since: 0, why: 'down' } })),
    [],
    'records may be left: wait for Slurm',
  );
  assert.deepEqual(
    kinds(
      observed([], [], {
        deleting: true,
        deletionPolicy: 'Delete',
        slurm: { kind: 'unknown', since: 0, why: 'down' },
      }),
    ),
    [],
    'with every policy: nothing deletes them later',
  );
  assert.deepEqual(
    kinds(observed([], [slurmNode(0)], { deleting: true })),
    ['drain'],
    'a record without its worker is drained, then deleted',
  );
});

test('the pod says what Slurm says of its node, one condition per state, and keeps it while Slurm is unknown', () => {
  const flags = new Set(['DRAIN', 'NOT_RESPONDING', 'CLOUD']);
  const mirrored = planWorkers(
    observed([worker(0)], [slurmNode(0, { base: 'DOWN', flags, reason: 'bad disk' })]),
    now,
  ).actions;
  const wanted = ['SlurmNodeStateDown', 'SlurmNodeStateDrain', 'SlurmNodeStateNotResponding'].map(
    (type) => [type, 'bad disk'] as const,
  );
  const safe = ['SafeToDelete', 'Slurm node w-0 is drained and has no jobs.'] as const;
  const conditions = new Map<string, string>([...wanted, safe]);
  const over = ['SlurmNodeStateIdle'];
  assert.deepEqual(mirrored, [{ kind: 'mirror-state', name: 'w-0', uid: 'uid-0', conditions, over }]);
  const unknown = { kind: 'unknown', since: 0, why: 'down' } as const;
  assert.deepEqual(
    planWorkers(observed([worker(0, { slurmConditions: new Map(wanted) })], [], { slurm: unknown }), now)
      .actions,
    [],
  );
});

test('Slurm is asked often until a list shows what became of our last change', () => {
  const quiet = observed([worker(0)], [slurmNode(0)]);
  assert.equal(planWorkers(quiet, now).waitsForSlurm, false);
  assert.equal(planWorkers({ ...quiet, lastWrites: new Map([['w-0', now]]) }, now).waitsForSlurm, 'changes');
  assert.equal(planWorkers({ ...quiet, lastWrites: new Map([['w-0', now - 1]]) }, now).waitsForSlurm, false);
});

test('of Slurm only what is waited for is polled often', () => {
  const drained = { flags: new Set(['DRAIN']), reason: ours } as const;
  const leaving = (node: Parameters<typeof slurmNode>[1], over: Parameters<typeof worker>[1] = {}) =>
    planWorkers(observed([worker(0, over)], [slurmNode(0, node)], { replicas: 0 }), now).waitsForSlurm;
  assert.equal(leaving({}), 'changes', 'the drain is to be seen in a list');
  assert.equal(
    leaving({ ...busy, ...drained }),
    'jobs',
    'a job has to end, which the list of job states shows',
  );
  assert.equal(leaving(drained), 'jobs', 'drained: its deletion looks at Slurm itself');
  assert.equal(leaving(drained, { terminating: true }), false, 'the kubelet has to remove the pod');
});

test('upstream item 19: of several moments to look again the first counts, whatever else is held back for longer', () => {
  const soon = worker(0, { readySince: now - 4_000 });
  const given = observed([soon], [slurmNode(0)], {
    replicas: 2,
    minReadySeconds: 10,
    backoff: new Map([['ordinal/1', now + 15 * 60_000]]),
  });
  assert.equal(planWorkers(given, now).wakeAt, now + 6_000);
});

test('a terminating worker is not available, even if it is ready', () => {
  const leaving = worker(0, { terminating: true });
  assert.equal(isHealthy(leaving), false);
  const update = { ...observed([], []).update, maxUnavailable: 1 };
  const outdated = worker(1, { revision: 'r0' });
  const made = planWorkers(observed([leaving, outdated], [slurmNode(0), slurmNode(1)], { update }), now);
  assert.deepEqual(made.toRemove, [], 'the budget is used up by the one that goes');
});

test('a delete means the pod as it was seen where that is what makes it safe', () => {
  const versions = (over: Partial<Worker>, nodes: SlurmNode[]) =>
    planWorkers(
      observed([worker(0, { resourceVersion: '7', ...over })], nodes, { replicas: 0 }),
      now,
    ).actions.flatMap((action) =>
      action.kind === 'delete-worker' ? [[action.because, action.resourceVersion]] : [],
    );
  const unbound = { nodeName: undefined, everStarted: false, phase: 'Pending', ready: false } as const;
  const drain = { flags: new Set(['DRAIN']), reason: 'slurm-operator: going' };
  assert.deepEqual(versions({}, []), [['unknown-to-slurm', '7']]);
  assert.deepEqual(versions(unbound, []), [['never-started', '7']]);
  assert.deepEqual(versions({}, [slurmNode(0, drain)]), [['drained', undefined]]);
});

test('reconciles again when the time for a worker to join is over', () => {
  const young = worker(0, { startedAt: now - 20_000 });
  const { actions, wakeAt } = planWorkers(observed([young], [], { replicas: 0 }), now);
  assert.deepEqual(
    actions.filter(({ kind }) => kind === 'delete-worker'),
    [],
  );
  assert.equal(wakeAt, now - 20_000 + joinsWithin);
});
