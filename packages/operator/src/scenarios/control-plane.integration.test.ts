/** Controller, RestApi and Cluster on an embedded API server: what they make, what they say, and when they keep still. */
import assert from 'node:assert/strict';
import { after, before as beforeAll, test } from 'node:test';
import { conditionType, label } from '@slurm-operator/api';
import {
  configMaps,
  deployments,
  type KubeObject,
  NotFoundError,
  pods,
  type Resource,
  services,
  statefulSets,
} from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { aController, aNodeSet, aRestApi } from '../../testing/objects.ts';
import {
  type OperatorWorld,
  type RunningOperator,
  startOperatorWorld,
} from '../../testing/operator-world.ts';
import { clusters, controllers, nodeSets, restApis } from '../cache/resources.ts';
import { configSeenAnnotation } from '../kinds/controller/objects/reconfigure.ts';
import { mountedConfigMaps } from '../kinds/controller/objects/stateful-set.ts';

let world: OperatorWorld;
let operator: RunningOperator;
const namespace = 'hpc';

beforeAll(async () => {
  world = await startOperatorWorld();
  operator = await world.operate();
});
after(() => world.stop());

const manifest = ({ apiVersion, kind, metadata, spec }: ReturnType<typeof aController>): never =>
  ({ apiVersion, kind, metadata: { name: metadata.name, namespace }, spec }) as never;

const exists = <T extends KubeObject>(resource: Resource<T>, name: string) =>
  until(`${resource.kind} ${name}`, () => world.client.find(resource, { namespace, name }));

test('a Controller whose keys are missing says which, and gets its Services all the same', async () => {
  await world.client.create(controllers, manifest(aController()));
  const ready = await world.said(controllers, 'slurm', conditionType.ready, 'SecretNotFound');
  assert.match(ready.message, /spec\.slurmKeyRef\.name is "slurm-auth".*create it/);
  await exists(services, 'slurm-controller');
  await exists(configMaps, 'slurm-config');
  assert.equal(await world.client.find(statefulSets, { namespace, name: 'slurm-controller' }), undefined);
});

test('with its keys it gets a StatefulSet, a Cluster of its own, and Services for each pod', async () => {
  await world.putSecret('slurm-auth', 'slurm.key', 'k'.repeat(64));
  await world.putSecret('slurm-jwt', 'jwt.key', 'j'.repeat(64));
  const set = await exists(statefulSets, 'slurm-controller');
  assert.equal(set.spec?.replicas, 1);
  assert.equal(set.metadata.ownerReferences?.[0]?.kind, 'Controller');
  await exists(services, 'slurm-controller-0');
  const cluster = await exists(clusters, 'slurm');
  assert.equal(cluster.spec.controllerRef?.name, 'slurm');
  assert.equal(cluster.metadata.finalizers, undefined, 'never a finalizer');
  await world.said(controllers, 'slurm', conditionType.ready, 'Starting');
  await world.said(clusters, 'slurm', conditionType.ready, 'RestApiNotFound');
  await world.said(controllers, 'slurm', conditionType.slurmConnected, 'RestApiNotFound');
});

test('a RestApi gets a Service and a Deployment; one without a Controller says so', async () => {
  await world.client.create(restApis, manifest(aRestApi() as never));
  await exists(services, 'slurm-restapi');
  await exists(deployments, 'slurm-restapi');
  await world.said(restApis, 'slurm', conditionType.ready, 'Starting');
  // Nothing listens at that name here: the Cluster has a truth to tell within seconds.
  const connected = await world.said(clusters, 'slurm', conditionType.slurmConnected, 'DnsFailed');
  assert.match(connected.message, /slurm-restapi\.hpc\.svc\.cluster\.local:6820/);
  assert.equal((await world.client.get(clusters, { namespace, name: 'slurm' })).status?.isReady, false);

  await world.client.create(
    restApis,
    manifest(aRestApi({ controllerRef: { name: 'nobody' } }, { name: 'lonely' }) as never),
  );
  await world.said(restApis, 'lonely', conditionType.ready, 'ControllerNotFound');
});

test('twenty edits of NodeSets in a second make at most two writes of the ConfigMap', async () => {
  const edit = (index: number, config: string) =>
    world.client.mergePatch(
      nodeSets,
      { namespace, name: `set-${index}` },
      { spec: { partition: { enabled: true, config } } },
    );
  for (let index = 0; index < 20; index += 1)
    await world.client.create(
      nodeSets,
      manifest(aNodeSet({ replicas: 0 }, { name: `set-${index}` }) as never),
    );
  await world.settled();
  const before = configWrites();
  const began = Date.now();
  await Promise.all(Array.from({ length: 20 }, (_, index) => edit(index, `MaxTime=${index + 1}`)));
  const took = Date.now() - began;
  await until('all partitions in slurm.conf', async () => {
    const map = await world.client.get(configMaps, { namespace, name: 'slurm-config' });
    return map.data?.['slurm.conf']?.match(/PartitionName=set-\d+ Nodes=set-\d+ MaxTime=/g)?.length === 20;
  });
  // News of the edits may come late as well, on a machine that is busy otherwise.
  const late = Math.max(0, Date.now() - began - took - 3000);
  await world.settled();
  const writes = configWrites() - before;
  // The first at once, the rest together; where the edits themselves take longer than that, one more for each pause.
  const allowed = 2 + Math.floor((took + late) / 1500);
  assert.ok(writes >= 1 && writes <= allowed, `${writes} writes for 20 edits in ${took} ms`);
});

const configWrites = () =>
  world.writes().filter(({ resource, name }) => resource === 'configmaps' && name === 'slurm-config').length;

test('a pod of slurmctld is touched when its configuration changes, so that its files change at once', async () => {
  const labels = { 'app.kubernetes.io/name': 'slurmctld', 'app.kubernetes.io/instance': 'slurm' };
  await world.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'slurm-controller-0',
      namespace,
      labels: { ...labels, 'app.kubernetes.io/component': 'controller' },
    },
    spec: { containers: [{ name: 'slurmctld', image: 'x' }] },
  } as never);
  const touched = () =>
    until('a touched pod', async () => {
      const pod = await world.client.get(pods, { namespace, name: 'slurm-controller-0' });
      return pod.metadata.annotations?.[configSeenAnnotation];
    });
  const first = await touched();
  await world.client.mergePatch(
    controllers,
    { namespace, name: 'slurm' },
    { spec: { extraConf: 'DebugFlags=Gres' } },
  );
  await until('another touch', async () => (await touched()) !== first);
});

test('the slurmctld that becomes ready gets the label of the active one', async () => {
  const ref = { namespace, name: 'slurm-controller-0' };
  assert.equal((await world.client.get(pods, ref)).metadata.labels?.[label.activeController], undefined);
  await world.client.mergePatch(
    pods,
    ref,
    { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
    { subresource: 'status' },
  );
  await until('the label', async () => {
    const { metadata } = await world.client.get(pods, ref);
    return metadata.labels?.[label.activeController] === 'true';
  });
});

test('a second reconcile of everything writes nothing', async () => {
  await world.settled();
  const before = world.writes().length;
  const poke = { metadata: { annotations: { 'kubectl.kubernetes.io/poke': 'now' } } };
  await world.client.mergePatch(controllers, { namespace, name: 'slurm' }, poke);
  await world.client.mergePatch(restApis, { namespace, name: 'slurm' }, poke);
  await world.settled();
  const writes = world.writes().slice(before);
  assert.deepEqual(
    writes.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`),
    [],
  );
});

test('a label of a Controller reaches its children in place and restarts nothing', async () => {
  const [set, service] = [
    { namespace, name: 'slurm-controller' },
    { namespace, name: 'slurm-controller-0' },
  ];
  const before = await world.client.get(statefulSets, set);
  await world.client.mergePatch(
    controllers,
    { namespace, name: 'slurm' },
    { metadata: { labels: { team: 'hpc' } } },
  );
  await until('the label on the StatefulSet and a Service', async () => {
    const children = [await world.client.get(statefulSets, set), await world.client.get(services, service)];
    return children.every(({ metadata }) => metadata.labels?.['team'] === 'hpc') || undefined;
  });
  const labelled = await world.client.get(statefulSets, set);
  assert.equal(labelled.metadata.generation, before.metadata.generation, 'its specification did not change');
  assert.deepEqual(labelled.spec?.template, before.spec?.template);
  await world.client.mergePatch(
    controllers,
    { namespace, name: 'slurm' },
    { metadata: { labels: { team: null } } },
  );
  await until('the label gone', async () => {
    const { metadata } = await world.client.get(statefulSets, set);
    return metadata.labels?.['team'] === undefined || undefined;
  });
});

test('a successor changes nothing: it asks once for each object, and the server has nothing to do', async () => {
  await operator.stop();
  const versions = async () => {
    const lists = await Promise.all(
      [services, configMaps, statefulSets, deployments, clusters].map((one) =>
        world.client.list(one as Resource, { namespace }),
      ),
    );
    return lists.flatMap(({ items }) =>
      items.map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion}`),
    );
  };
  const [before, count] = [await versions(), world.writes().length];
  operator = await world.operate();
  await world.settled();
  assert.deepEqual(await versions(), before);
  const writes = world
    .writes()
    .slice(count)
    .map(({ resource, subresource, name }) => `${resource}/${subresource} ${name}`);
  assert.equal(new Set(writes).size, writes.length, `something is written twice: ${writes.join(', ')}`);
});

test('a user’s patch of a field that the custom resource leaves open survives', async () => {
  const ref = { namespace, name: 'slurm-controller' };
  await world.client.mergePatch(services, ref, {
    spec: { type: 'LoadBalancer' },
    metadata: { labels: { mine: 'yes' } },
  });
  await world.client.mergePatch(
    controllers,
    { namespace, name: 'slurm' },
    { spec: { extraConf: 'DebugFlags=Steps' } },
  );
  await world.settled();
  const service = await world.client.get(services, ref);
  assert.equal(service.spec?.type, 'LoadBalancer');
  assert.equal(service.metadata.labels?.['mine'], 'yes');
});

test('and it survives a restart of the operator', async () => {
  await operator.stop();
  operator = await world.operate();
  await world.settled();
  await world.client.mergePatch(
    controllers,
    { namespace, name: 'slurm' },
    { metadata: { labels: { team: 'hpc' } } },
  );
  const ref = { namespace, name: 'slurm-controller' };
  const service = await until('the label on the Service', async () => {
    const found = await world.client.get(services, ref);
    return found.metadata.labels?.['team'] === 'hpc' && found;
  });
  assert.equal(service.spec?.type, 'LoadBalancer');
  assert.equal(service.metadata.labels?.['mine'], 'yes');
});

test('the content of a ConfigMap that the Controller refers to is configuration, too (upstream weakness 6)', async () => {
  const ref = { namespace, name: 'gres' };
  const map = (gres: string) => ({ data: { 'gres.conf': gres, 'prolog.sh': '#!/bin/sh' } });
  await world.client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: ref,
    ...map('NodeName=a Name=gpu'),
  } as never);
  // What the tests before asked for is done.
  await world.settled();
  const before = world.writes().length;
  await world.client.mergePatch(
    controllers,
    { namespace, name: 'slurm' },
    { spec: { configFileRefs: [{ name: 'gres' }], prologScriptRefs: [{ name: 'gres' }] } },
  );
  const conf = () => world.client.get(configMaps, { namespace, name: 'slurm-config' });
  await until('its script in slurm.conf', async () =>
    (await conf()).data?.['slurm.conf']?.includes('Prolog=prolog.sh'),
  );
  await until('its files in the pods of slurmctld', async () => {
    const set = await world.client.get(statefulSets, { namespace, name: 'slurm-controller' });
    return mountedConfigMaps(set).includes('gres');
  });
  assert.deepEqual(
    world
      .writes()
      .slice(before)
      .map(({ resource, name }) => `${resource} ${name}`)
      .filter((one) => one === 'configmaps slurm-config' || one === 'statefulsets slurm-controller')
      .slice(0, 2),
    ['configmaps slurm-config', 'statefulsets slurm-controller'],
    'a pod that is recreated for the files finds the slurm.conf that was tried with them',
  );
  const inForce = async () =>
    (await world.client.get(controllers, { namespace, name: 'slurm' })).status?.configHash;
  await world.settled();
  const first = await inForce();
  await world.client.mergePatch(configMaps, ref, map('NodeName=b Name=gpu'));
  await until('a configuration of another hash in force', async () => (await inForce()) !== first);
  await world.client.mergePatch(configMaps, ref, { data: { 'another.sh': '#!/bin/sh' } });
  await until('a new file in slurm.conf', async () =>
    (await conf()).data?.['slurm.conf']?.includes('Prolog=another.sh'),
  );
});

test('an object of another owner is left alone, and the Controller says whose it is', async () => {
  await world.client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'other-config',
      namespace,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'other-owner', uid: 'x', controller: true }],
    },
    data: { 'slurm.conf': 'theirs' },
  } as never);
  await world.client.create(controllers, manifest(aController({}, { name: 'other' })));
  const ready = await world.said(controllers, 'other', conditionType.ready, 'NameConflict');
  assert.match(ready.message, /other-config.*Pod other-owner/);
  const map = await world.client.get(configMaps, { namespace, name: 'other-config' });
  assert.equal(map.data?.['slurm.conf'], 'theirs');
  await exists(services, 'other-controller');
});

test('standbys may come and go: what Kubernetes filled in for one slurmctld does not stand in the way', async () => {
  const persistence = { enabled: true, existingClaim: 'shared' };
  await world.client.create(controllers, manifest(aController({ persistence }, { name: 'standby' })));
  const set = () => world.client.find(statefulSets, { namespace, name: 'standby-controller' });
  const change = (ha: object | null) =>
    world.client.mergePatch(controllers, { namespace, name: 'standby' }, { spec: { ha } });
  const first = await until('a StatefulSet', set);
  assert.ok(first.spec?.updateStrategy?.rollingUpdate, 'filled in by Kubernetes, not set by the operator');
  await change({ enabled: true, backups: 1 });
  await until('a second slurmctld', async () => (await set())?.spec?.replicas === 2);
  assert.deepEqual((await set())?.spec?.updateStrategy, { type: 'OnDelete' });
  await change(null);
  await until('one again', async () => (await set())?.spec?.replicas === 1);
  assert.equal((await set())?.spec?.updateStrategy?.type, 'RollingUpdate');
});

test('a Cluster that is deleted leaves nothing behind', async () => {
  await world.client.delete(clusters, { namespace, name: 'slurm' });
  await exists(clusters, 'slurm');
  await world.client.delete(controllers, { namespace, name: 'slurm' });
  await assert.rejects(world.client.get(controllers, { namespace, name: 'slurm' }), NotFoundError);
});
