/** Who goes first. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { now, observed, slurmNode, worker } from '../../../../testing/observed.ts';
import type { Worker } from '../model/observed.ts';
import { planWorkers } from './plan-workers.ts';
import { removalOrder } from './removal-order.ts';

const busy = { base: 'ALLOCATED' as const, deadline: now + 60_000 };

test('victims go in the documented order', () => {
  const base = worker(1);
  const earlier: [string, Worker][] = [
    ['unscheduled first', worker(2, { nodeName: undefined })],
    ['then pending', worker(2, { phase: 'Pending' })],
    ['then not ready', worker(2, { ready: false })],
    ['then the lower deletion cost', worker(0, { deletionCost: -1 })],
    ['then cordoned', worker(0, { cordoned: true })],
    ['then the higher ordinal', worker(2)],
  ];
  for (const [reason, other] of earlier) assert.ok(removalOrder(now)(other, base) < 0, reason);
  assert.ok(
    removalOrder(now)(worker(0, { deadline: now + 5 }), worker(1, { deadline: now + 9 })) < 0,
    'the earlier deadline',
  );
  assert.ok(removalOrder(now)(worker(0), worker(1, { deadline: now + 9 })) < 0, 'idle before busy');
  assert.ok(
    removalOrder(now)(worker(0, { deadline: Number.POSITIVE_INFINITY }), worker(1, { deadline: now + 9 })) >
      0,
    'work without a limit last',
  );
});

test('a draining worker is not exchanged for one that is idle for a moment, but for one that finishes an hour sooner', () => {
  for (const cordonCause of ['update', 'scale-in'] as const) {
    const leaving = { cordoned: true, cordonCause };
    const soon = worker(0, { ...leaving, deadline: now + 10 * 60_000 });
    const late = worker(0, { ...leaving, deadline: now + 3 * 3_600_000 });
    assert.ok(removalOrder(now)(soon, worker(1)) < 0);
    assert.ok(removalOrder(now)(late, worker(1)) > 0);
  }
  const cordonedOnly = worker(0, { cordoned: true, deadline: now + 10 * 60_000 });
  assert.ok(removalOrder(now)(cordonedOnly, worker(1)) > 0, 'a cordon by a person is no way out');
});

test('of workers without ordinals the one that was ready last goes first, then the younger, then by name', () => {
  const daemon = (name: string, over: Partial<Worker> = {}) =>
    worker(0, { name, slot: { mode: 'DaemonSet', nodeName: name }, ...over });
  const order = removalOrder(now);
  assert.ok(order(daemon('b', { readySince: now - 1 }), daemon('a', { readySince: now - 2 })) < 0);
  assert.ok(order(daemon('b', { createdAt: now - 1 }), daemon('a', { createdAt: now - 2 })) < 0);
  assert.ok(order(daemon('a'), daemon('b')) < 0);
});

test('a job that has ended in one list and holds its node in the other changes no victim', () => {
  const leaving = { cordoned: true, cordonCause: 'scale-in' as const, writtenDeadline: now + 3_000_000 };
  const victim = worker(1, { ...leaving, protectedFromEviction: true });
  const drained = {
    flags: new Set(['DRAIN']),
    reason: 'slurm-operator: Pod (slurm/w-1) is pending termination for scale-in',
  };
  const other = worker(0, { writtenDeadline: now + 3_000_000, protectedFromEviction: true });
  const nodes = [
    slurmNode(0, { base: 'MIXED', deadline: now + 3_000_000 }),
    slurmNode(1, { base: 'MIXED', deadline: 'unknown', ...drained }),
  ];
  const made = planWorkers(observed([other, victim], nodes, { replicas: 1 }), now);
  assert.deepEqual(
    made.toRemove.map((one) => one.name),
    ['w-1'],
  );
  assert.deepEqual(
    made.actions.filter((action) => action.kind !== 'mirror-state'),
    [],
  );
});

test('work that nothing dates goes last, and the pod says so', () => {
  const nodes = [slurmNode(0, { base: 'MIXED', deadline: 'unknown' }), slurmNode(1, busy)];
  const made = planWorkers(observed([worker(0), worker(1)], nodes, { replicas: 1 }), now);
  assert.deepEqual(
    made.toRemove.map((one) => one.name),
    ['w-1'],
  );
  const patch = made.actions.find((action) => action.kind === 'patch-worker' && action.name === 'w-0');
  assert.equal(patch?.kind === 'patch-worker' && patch.deadline, Number.POSITIVE_INFINITY);
});
