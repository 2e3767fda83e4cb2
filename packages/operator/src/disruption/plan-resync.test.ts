import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodDisruptionBudget } from '@slurm-operator/kube';
import fc from 'fast-check';
import { mostTouches, planResync, resyncAnnotation } from './plan-resync.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const message = 'no kind "NodeSet" is registered';
const budget = (reason: string, annotation?: string, generation = 1) =>
  ({
    metadata: {
      generation,
      ...(annotation === undefined ? {} : { annotations: { [resyncAnnotation]: annotation } }),
    },
    status: {
      conditions: [
        {
          type: 'DisruptionAllowed',
          status: 'False',
          reason,
          message,
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    },
  }) as unknown as PodDisruptionBudget;

test('a budget that is counted, or not counted yet, is left alone', () => {
  assert.deepEqual(planResync(budget('InsufficientPods'), start), { kind: 'synced' });
  assert.deepEqual(planResync({ metadata: { name: 'x' } }, start), { kind: 'synced' });
});

test('a failure is given a moment, then the budget is touched', () => {
  assert.deepEqual(planResync(budget('SyncFailed'), start + 2_000), { kind: 'wait', forMs: 3_000, message });
  const touch = planResync(budget('SyncFailed'), start + 5_000);
  assert.deepEqual(touch, { kind: 'touch', count: 1, value: '1 1 2026-01-01T00:00:05.000Z', message });
});

test('another generation of the budget begins with the first touch again', () => {
  const worn = `1 ${mostTouches} 2026-01-01T00:00:00.000Z`;
  assert.equal(planResync(budget('SyncFailed', worn), start + 9e9).kind, 'give-up');
  assert.equal(planResync(budget('SyncFailed', worn, 2), start + 9e9).kind, 'touch');
});

test('touches come ever later and end, whatever the annotation said at first', () => {
  fc.assert(
    fc.property(fc.string(), (annotation) => {
      let [now, current, touches, last] = [start, annotation, 0, start];
      for (let step = 0; step < 100; step++) {
        const plan = planResync(budget('SyncFailed', current), now);
        if (plan.kind === 'wait') {
          assert.ok(plan.forMs > 0 && plan.forMs <= 300_000);
          now += plan.forMs;
        } else if (plan.kind === 'touch') {
          if (touches > 0) assert.ok(now - last >= 10_000);
          [touches, last, current] = [touches + 1, now, plan.value];
        } else break;
      }
      assert.ok(touches <= mostTouches);
      assert.equal(planResync(budget('SyncFailed', current), now + 9e9).kind, 'give-up');
    }),
  );
});
