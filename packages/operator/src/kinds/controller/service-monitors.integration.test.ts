/** ServiceMonitors on an embedded API server: with their kind installed, and without. */
import assert from 'node:assert/strict';
import { after, before as beforeAll, test } from 'node:test';
import {
  customResourceDefinitions,
  defineResource,
  type KubeObject,
  type Live,
  NotFoundError,
} from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { aController } from '../../../testing/objects.ts';
import { type OperatorWorld, startOperatorWorld } from '../../../testing/operator-world.ts';
import { serviceMonitorDefinition } from '../../../testing/service-monitor-definition.ts';
import { controllers } from '../../cache/resources.ts';
import { syncServiceMonitor } from './service-monitors.ts';

const namespace = 'hpc';
const kind = defineResource<KubeObject & { spec: { endpoints: { path: string; port: string }[] } }>({
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'ServiceMonitor',
  plural: 'servicemonitors',
  namespaced: true,
});

let world: OperatorWorld;
let controller: Live<ReturnType<typeof aController>>;
const signal = AbortSignal.timeout(300_000);
const ref = { namespace, name: 'slurm-controller' };
const metrics = (enabled: boolean) => ({
  metrics: { enabled, serviceMonitor: { enabled, interval: '30s', labels: { release: 'prometheus' } } },
});

beforeAll(async () => {
  world = await startOperatorWorld();
  const { apiVersion, kind: name, spec } = aController(metrics(true));
  controller = await world.client.create(controllers, {
    apiVersion,
    kind: name,
    metadata: { name: 'slurm', namespace },
    spec,
  });
});
after(() => world.stop());

const want = async (enabled: boolean): Promise<void> => {
  controller = await world.client.mergePatch(
    controllers,
    { namespace, name: 'slurm' },
    { spec: metrics(enabled) },
  );
};

test('without its kind nothing fails, and it is said that one is wanting', async () => {
  assert.equal(await syncServiceMonitor(controller, world.client, signal), 'absent');
  await want(false);
  assert.equal(await syncServiceMonitor(controller, world.client, signal), 'done');
  await want(true);
});

test('with its kind there is one, written once, with the four paths of slurmctld', async () => {
  await world.client.create(customResourceDefinitions, serviceMonitorDefinition as never);
  await until('the kind', async () => {
    try {
      await world.client.list(kind, { namespace });
      return true;
    } catch (error) {
      if (error instanceof NotFoundError) return false;
      throw error;
    }
  });
  assert.equal(await syncServiceMonitor(controller, world.client, signal), 'done');
  const found = await world.client.get(kind, ref);
  assert.deepEqual(
    found.spec.endpoints.map(({ path, port }) => `${port} ${path}`),
    ['jobs', 'nodes', 'partitions', 'scheduler'].map((what) => `slurmctld /metrics/${what}`),
  );
  assert.equal(found.metadata.labels?.['release'], 'prometheus');
  assert.equal(found.metadata.ownerReferences?.[0]?.uid, controller.metadata.uid);
  await syncServiceMonitor(controller, world.client, signal);
  assert.equal((await world.client.get(kind, ref)).metadata.resourceVersion, found.metadata.resourceVersion);
});

test('one that is not wanted any more goes, also when it was forgotten by a restart; another’s stays', async () => {
  await want(false);
  assert.equal(await syncServiceMonitor(controller, world.client, signal), 'done');
  assert.equal(await world.client.find(kind, ref), undefined);
  await world.client.create(kind, {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: ref,
    spec: { endpoints: [] },
  });
  await syncServiceMonitor(controller, world.client, signal);
  assert.notEqual(await world.client.find(kind, ref), undefined);
});

test('the whole operator makes one, too', async () => {
  await world.client.delete(kind, ref);
  await world.operate();
  await want(true);
  await until('the ServiceMonitor', () => world.client.find(kind, ref));
});
