import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Deployment, ReplicaSet } from '../../objects/objects.ts';
import { budgetOf, planDeployment } from './plan.ts';

const now = Date.parse('2026-01-02T03:04:05Z');

function aDeployment(spec: object = {}, image = 'new'): Deployment {
  return {
    metadata: {
      name: 'd',
      namespace: 'ns',
      uid: 'd',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: {
      replicas: 4,
      selector: { matchLabels: { app: 'd' } },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
      template: { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'c', image }] } },
      ...spec,
    },
  } as unknown as Deployment;
}

function aSet(
  deployment: Deployment,
  image: string,
  replicas: number,
  available: number,
  revision: number,
): ReplicaSet {
  return {
    metadata: {
      name: `d-${image}`,
      namespace: 'ns',
      uid: image,
      creationTimestamp: '2026-01-01T00:00:00Z',
      annotations: { 'deployment.kubernetes.io/revision': String(revision) },
      ownerReferences: [{ uid: deployment.metadata.uid, controller: true }],
    },
    spec: {
      replicas,
      template: {
        metadata: { labels: { app: 'd', 'pod-template-hash': image } },
        spec: { containers: [{ name: 'c', image }] },
      },
    },
    status: { replicas, availableReplicas: available, readyReplicas: available },
  } as unknown as ReplicaSet;
}

test('percentages: surge rounds up, unavailability down, and never are both nothing', () => {
  const budget = (maxSurge: string, maxUnavailable: string, replicas: number) => {
    const { maxSurge: surge, maxUnavailable: away } = budgetOf(
      aDeployment({
        replicas,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
      }),
    );
    return [surge, away];
  };
  assert.deepEqual(budget('25%', '25%', 2), [1, 0]);
  assert.deepEqual(budget('25%', '25%', 10), [3, 2]);
  assert.deepEqual(budget('0%', '0%', 10), [0, 1]);
});

test('Recreate makes the new set only when the old pods are gone', () => {
  const recreate = aDeployment({ strategy: { type: 'Recreate' } });
  const busy = planDeployment({ deployment: recreate, sets: [aSet(recreate, 'old', 4, 4, 1)] }, now);
  const created = busy.actions.find((action) => action.do === 'createSet');
  assert.equal((created?.set as { spec: { replicas: number } } | undefined)?.spec.replicas, 0);
  const both = [aSet(recreate, 'old', 4, 4, 1), aSet(recreate, 'new', 0, 0, 2)];
  const shrunk = planDeployment({ deployment: recreate, sets: both }, now).actions;
  assert.deepEqual(
    shrunk.flatMap((action) =>
      action.do === 'updateSet' ? [[action.set.metadata.name, action.replicas]] : [],
    ),
    [
      ['d-new', 0],
      ['d-old', 0],
    ].filter(
      ([name]) =>
        name === 'd-old' ||
        shrunk.some((action) => action.do === 'updateSet' && action.set.metadata.name === 'd-new'),
    ),
  );
});

test('a paused Deployment changes no size', () => {
  const paused = aDeployment({ paused: true });
  const { actions } = planDeployment({ deployment: paused, sets: [aSet(paused, 'old', 4, 4, 1)] }, now);
  assert.deepEqual(
    actions.filter((action) => action.do === 'createSet' || action.do === 'updateSet'),
    [],
  );
});

test('a rollout from any point ends with the new template alone, and never leaves its budget', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 0, max: 3 }),
      fc.integer({ min: 0, max: 3 }),
      fc.array(fc.boolean(), { minLength: 200, maxLength: 200 }),
      (replicas, maxSurge, maxUnavailable, becomesReady) => {
        const deployment = aDeployment({
          replicas,
          strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
        });
        const budget = budgetOf(deployment);
        const size = { old: replicas, new: 0 };
        const ready = { old: replicas, new: 0 };
        let exists = false;
        for (const isReadyNow of becomesReady) {
          const sets = [
            aSet(deployment, 'old', size.old, ready.old, 1),
            ...(exists ? [aSet(deployment, 'new', size.new, ready.new, 2)] : []),
          ];
          const { actions } = planDeployment({ deployment, sets }, now);
          for (const action of actions) {
            if (action.do === 'createSet') {
              exists = true;
              size.new = (action.set as { spec: { replicas: number } }).spec.replicas;
            }
            if (action.do === 'updateSet') {
              const which = action.set.metadata.uid as 'old' | 'new';
              size[which] = action.replicas;
              ready[which] = Math.min(ready[which], action.replicas);
            }
          }
          assert.ok(size.old + size.new <= replicas + budget.maxSurge, 'surge');
          assert.ok(ready.old + ready.new >= replicas - budget.maxUnavailable, 'availability');
          if (isReadyNow && ready.new < size.new) ready.new += 1;
          if (size.old === 0 && ready.new === replicas) return;
        }
        // A short run may end before the rollout does.
        fc.pre(false);
      },
    ),
    { numRuns: 60 },
  );
});
