/** With the webhook unreachable every request passes, and the object says in a condition what the webhook would have said. */
import assert from 'node:assert/strict';
import { after, before as beforeAll, test } from 'node:test';
import { conditionType } from '@slurm-operator/api';
import {
  type AdmissionRequest,
  configMaps,
  events,
  persistentVolumeClaims,
  pods,
  type Resource,
  services,
  statefulSets,
  validatingWebhookConfigurations,
} from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { aController, aLoginSet, aNodeSet, aRestApi } from '../../testing/objects.ts';
import { type OperatorWorld, startOperatorWorld } from '../../testing/operator-world.ts';
import { controllers, loginSets, nodeSets, restApis } from '../cache/resources.ts';
import { type ReviewedKind, validatingConfiguration } from '../webhook/configurations.ts';
import { validatorOf } from '../webhook/validator.ts';

const namespace = 'hpc';
let world: OperatorWorld;

beforeAll(async () => {
  world = await startOperatorWorld();
  const service = { name: 'webhook', namespace };
  await world.client.create(services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: service,
    spec: { ports: [{ name: 'webhook', port: 443 }] },
  } as never);
  // A Service without endpoints, as after the loss of every node with a replica.
  await world.client.create(
    validatingWebhookConfigurations,
    validatingConfiguration({ name: 'hooks', service }) as never,
  );
  await world.putSecret('slurm-auth', 'slurm.key', 'k'.repeat(64));
  await world.putSecret('slurm-jwt', 'jwt.key', 'j'.repeat(64));
  await world.operate();
});
after(() => world.stop());

type Made = ReturnType<typeof aController>;
const manifest = ({ apiVersion, kind, metadata, spec }: Made) => ({
  apiVersion,
  kind,
  metadata: { name: metadata.name, namespace },
  spec,
});

/** What the webhook says of it: the refusal, or else the warnings. */
async function said(kind: ReviewedKind, made: Made): Promise<string[]> {
  const request = {
    operation: 'CREATE',
    namespace,
    object: manifest(made),
  } as unknown as AdmissionRequest<never>;
  const answer = await validatorOf(kind, { client: world.client })(request, AbortSignal.timeout(10_000));
  return answer.allowed ? [...(answer.warnings ?? [])] : [answer.message ?? ''];
}

async function create(resource: Resource<never>, made: unknown): Promise<void> {
  await world.client.create(resource, manifest(made as Made) as never);
}

const says = (resource: unknown, name: string, type: string, message: string) =>
  until(`${name} says "${message}"`, async () => {
    const live = (await world.client.get(resource as Resource<never>, { namespace, name })) as {
      status?: { conditions?: { type: string; message: string }[] };
    };
    return live.status?.conditions?.some((one) => one.type === type && one.message === message);
  });

test('a ConfigMap that is missing, and one with a file that the operator writes', async () => {
  const missing = aController({ configFileRefs: [{ name: 'nowhere' }] }, { name: 'missing' });
  const [first = ''] = await said('Controller', missing);
  assert.match(first, /ConfigMap "nowhere" does not exist/);
  await create(controllers as never, missing);
  await says(controllers, 'missing', conditionType.ready, first);

  await world.client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'bad', namespace },
    data: { 'slurm.conf': 'ClusterName=other' },
  });
  const reserved = aController({ configFileRefs: [{ name: 'bad' }] }, { name: 'reserved' });
  const [second = ''] = await said('Controller', reserved);
  assert.match(second, /key "slurm\.conf" of ConfigMap "bad" is reserved/);
  await create(controllers as never, reserved);
  await says(controllers, 'reserved', conditionType.ready, second);
  assert.equal(
    await world.client.find(statefulSets, { namespace, name: 'reserved-controller' }),
    undefined,
    'a slurmctld would start with a configuration that was not tried',
  );
});

test('a claim that only one slurmctld can mount', async () => {
  await world.client.create(persistentVolumeClaims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'single', namespace },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  } as never);
  const made = aController(
    { ha: { enabled: true }, persistence: { enabled: true, existingClaim: 'single' } },
    { name: 'standby' },
  );
  const [message = ''] = await said('Controller', made);
  assert.match(message, /needs ReadWriteMany/);
  await create(controllers as never, made);
  await says(controllers, 'standby', conditionType.degraded, message);
});

test('an address that is ignored, a Controller that does not exist, a file that Slurm does not know', async () => {
  const service = { spec: { externalIPs: ['192.0.2.1'] } };
  const [ignored = ''] = await said('Controller', aController({ service }, { name: 'open' }));
  assert.match(ignored, /externalIPs is ignored/);
  await world.client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'odd', namespace },
    data: { 'gress.conf': '' },
  });
  const open = aController({ service, configFileRefs: [{ name: 'odd' }] }, { name: 'open' });
  const hint = (await said('Controller', open)).find((one) => one.includes('gress.conf'));
  await create(controllers as never, open);
  await says(controllers, 'open', conditionType.degraded, ignored);
  await until('an event with the hint', async () =>
    (await world.client.list(events, { namespace })).items.some(({ note }) => note === hint),
  );
  for (const [kind, resource, made] of [
    ['RestApi', restApis, aRestApi({ controllerRef: { name: 'nobody' } }, { name: 'early' })],
    ['LoginSet', loginSets, aLoginSet({ controllerRef: { name: 'nobody' } }, { name: 'early' })],
    ['NodeSet', nodeSets, aNodeSet({ controllerRef: { name: 'nobody' } }, { name: 'early' })],
  ] as const) {
    const [message = ''] = await said(kind, made as unknown as Made);
    assert.match(message, /no such Controller exists in namespace hpc/);
    await create(resource as never, made);
    await says(resource, 'early', conditionType.ready, message);
  }
});

test('of two NodeSets with the same node names the second creates no worker', async () => {
  await create(
    nodeSets as never,
    aNodeSet({ controllerRef: { name: 'open' }, replicas: 1 }, { name: 'gpu' }),
  );
  await until('a worker of the first', async () =>
    (await world.client.list(pods, { namespace })).items.some(({ metadata }) => metadata.name === 'gpu-0'),
  );
  const second = aNodeSet(
    { controllerRef: { name: 'open' }, replicas: 1, template: { spec: { hostname: 'gpu-' } } },
    { name: 'fast' },
  );
  const [message = ''] = await said('NodeSet', second as unknown as Made);
  assert.match(message, /the Slurm nodes of NodeSet "gpu" also begin with "gpu-"/);
  await create(nodeSets as never, second);
  await says(nodeSets, 'fast', conditionType.ready, message);
  const workers = (await world.client.list(pods, { namespace })).items.map(({ metadata }) => metadata.name);
  assert.ok(!workers.some((name) => name.startsWith('fast')), workers.join());
});
