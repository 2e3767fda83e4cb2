/** A budget that a slow controller manager failed to count, and the operator's touch that makes it count again: both together. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { app, customResourceDefinition, label, nodeSetKind } from '@slurm-operator/api';
import {
  ApiError,
  type Client,
  type Clock,
  createManager,
  customResourceDefinitions,
  events,
  kubeconfigConfig,
  namespaces,
  podDisruptionBudgets,
  pods,
  silent,
  systemClock,
} from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { type ControlPlane, startControlPlane } from '@slurm-operator/localcluster/testing';
import { aNodeSet } from '../../testing/objects.ts';
import { nodeSets } from '../cache/resources.ts';
import { setupCache } from '../programs/cached-objects.ts';
import { resyncAnnotation } from './plan-resync.ts';
import { setupDisruptionBudgets } from './setup.ts';

const namespace = 'hpc';
let passed = 0;
/** The clock of both programs, which the test moves forward. */
const clock: Clock = {
  ...systemClock,
  now: () => systemClock.now() + passed,
  monotonic: () => systemClock.monotonic() + passed,
};
let plane: ControlPlane;
let client: Client;

before(async () => {
  plane = await startControlPlane({ clock });
  client = plane.createClient();
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
});
after(async () => {
  client?.close();
  await plane?.stop();
});

/** A budget over one pod of an owner of a custom kind. */
async function protect(name: string, owner: { kind: string; name: string; uid: string }): Promise<void> {
  const labels = { [label.name]: app.worker, budget: name };
  const reference = { apiVersion: 'slinky.slurm.net/v1beta1', controller: true, ...owner };
  await client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels, ownerReferences: [reference] },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  } as never);
  await client.mergePatch(
    pods,
    { namespace, name },
    { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } },
    { subresource: 'status' },
  );
  await client.create(podDisruptionBudgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace },
    spec: { maxUnavailable: 1, selector: { matchLabels: { budget: name } } },
  } as never);
}

const budget = (name: string) => client.get(podDisruptionBudgets, { namespace, name });
const hasFailed = async (name: string) =>
  (await budget(name)).status?.conditions?.some(({ reason }) => reason === 'SyncFailed') === true;
const allows = async (name: string) => (await budget(name)).status?.disruptionsAllowed ?? 0;
const evict = (name: string) =>
  client.json('POST', `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, {
    body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } },
  });

test('a budget that stays at SyncFailed is counted after the operator touched it, and lets a drain go on', async () => {
  // The controller manager reads which kinds exist, and remembers it for half a minute.
  await protect('unknown-kind', { kind: 'Missing', name: 'x', uid: 'x' });
  await until('the controller manager has read the kinds', () => hasFailed('unknown-kind'));
  await client.create(customResourceDefinitions, customResourceDefinition(nodeSetKind) as never);
  const set = await until('the kind is served', () =>
    client.create(nodeSets, {
      ...aNodeSet({ replicas: 1 }, { name: 'workers' }),
      metadata: { name: 'workers', namespace },
    }),
  );
  const owner = { kind: 'NodeSet', name: 'workers', uid: set.metadata.uid };
  await protect('stuck', owner);
  await until('the budget cannot be counted', () => hasFailed('stuck'));
  await assert.rejects(evict('stuck'), (error) => error instanceof ApiError && error.status === 429);

  // The controller manager learns the kind, and does not return to the budget that failed.
  passed += 60_000;
  await protect('later', owner);
  await until('a budget that is created later is counted', async () => (await allows('later')) > 0);
  assert.equal(await hasFailed('stuck'), true, 'nothing but a touch helps');

  const config = await kubeconfigConfig({ text: plane.server.kubeconfig() });
  const operator = await createManager({ name: 'slurm-operator', config, log: silent, clock });
  setupCache(operator.cache);
  setupDisruptionBudgets(operator);
  const stop = new AbortController();
  const running = operator.start(stop.signal);
  try {
    await until('the budget is counted', async () => (await allows('stuck')) > 0, {
      seen: async () => JSON.stringify((await budget('stuck')).status),
    });
    assert.equal(await hasFailed('stuck'), false);
    assert.match(
      (await budget('stuck')).metadata.annotations?.[resyncAnnotation] ?? '',
      /^\d+ 1 /,
      'one touch was enough',
    );
    await until('the touch is told as an event', async () =>
      (await client.list(events, { namespace })).items.some(
        ({ reason }) => reason === 'DisruptionBudgetTouched',
      ),
    );
    assert.equal(
      (await budget('unknown-kind')).metadata.annotations?.[resyncAnnotation],
      undefined,
      'budgets over pods of others are left alone',
    );
    await evict('stuck');
  } finally {
    stop.abort();
    await running;
  }
});
