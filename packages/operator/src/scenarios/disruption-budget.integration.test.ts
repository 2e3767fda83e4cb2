/** A PodDisruptionBudget over workers that Kubernetes could not count, because it did not know the kind NodeSet yet. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { events, podDisruptionBudgets, pods } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { aController, aNodeSet } from '../../testing/objects.ts';
import { type OperatorWorld, startOperatorWorld } from '../../testing/operator-world.ts';
import { controllers, nodeSets } from '../cache/resources.ts';
import { resyncAnnotation } from '../disruption/plan-resync.ts';

const namespace = 'hpc';
let world: OperatorWorld;
before(async () => {
  world = await startOperatorWorld();
  await world.putSecret('slurm-auth', 'slurm.key', 'k'.repeat(64));
  await world.putSecret('slurm-jwt', 'jwt.key', 'j'.repeat(64));
  await world.put(controllers, aController());
  await world.put(nodeSets, aNodeSet({ replicas: 1 }, { name: 'gpu' }));
  await world.operate();
  await until('a worker', async () =>
    (await world.client.list(pods, { namespace })).items.some(({ metadata }) => metadata.name === 'gpu-0'),
  );
});
after(() => world.stop());

const create = (name: string, labels: object) =>
  world.client.create(podDisruptionBudgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace },
    spec: { maxUnavailable: '50%', selector: { matchLabels: labels } },
  } as never);

/** What the controller manager writes that fails to count, or does not. */
const report = (name: string, reason: 'SyncFailed' | 'SufficientPods') =>
  world.client.mergePatch(
    podDisruptionBudgets,
    { namespace, name },
    {
      status: {
        observedGeneration: 1,
        disruptionsAllowed: reason === 'SyncFailed' ? 0 : 1,
        currentHealthy: 0,
        desiredHealthy: 0,
        expectedPods: 0,
        conditions: [
          {
            type: 'DisruptionAllowed',
            status: reason === 'SyncFailed' ? 'False' : 'True',
            reason,
            message:
              reason === 'SyncFailed' ? 'no matches for kind "NodeSet" in group "slinky.slurm.net"' : '',
            lastTransitionTime: new Date(Date.now() - 60_000).toISOString().replace(/\.\d+Z$/, 'Z'),
          },
        ],
      },
    },
    { subresource: 'status' },
  );

const touches = async (name: string) =>
  (await world.client.get(podDisruptionBudgets, { namespace, name })).metadata.annotations?.[
    resyncAnnotation
  ];

test('it is touched until it is counted, an event says so, and then it is left alone', async () => {
  await create('workers', { 'app.kubernetes.io/name': 'slurmd' });
  await report('workers', 'SyncFailed');
  const first = await until('the first touch', () => touches('workers'));
  assert.match(first, /^1 1 /);
  await until('an event', async () =>
    (await world.client.list(events, { namespace })).items.some(
      ({ reason, regarding }) => reason === 'DisruptionBudgetTouched' && regarding?.name === 'workers',
    ),
  );
  await report('workers', 'SufficientPods');
  await world.settled();
  assert.equal(await touches('workers'), first);
});

test('a budget over other pods is not touched', async () => {
  await create('others', { 'app.kubernetes.io/name': 'nginx' });
  await report('others', 'SyncFailed');
  await create('more', { 'app.kubernetes.io/name': 'slurmd' });
  await report('more', 'SyncFailed');
  await until('the budget over workers is touched', () => touches('more'));
  assert.equal(await touches('others'), undefined);
});
