/** Each class of user moves from upstream: no worker is replaced, no job is lost, everything is taken over, and the way back is open. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { conditionType, label } from '@slurm-operator/api';
import {
  type AnyResource,
  controllerRevisions,
  createClient,
  findCondition,
  kubeconfigConfig,
  type Live,
  namespaces,
  pods,
  type Resource,
  services,
} from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { startControlPlane } from '@slurm-operator/localcluster/testing';
import { type Simulator, startSimulator } from '@slurm-operator/slurm/testing';
import {
  type OperatorWorld,
  type RunningOperator,
  startOperatorWorld,
} from '../../testing/operator-world.ts';
import { loopbackServices, SlurmBehindService } from '../../testing/slurm-behind-service.ts';
import { upstreamClasses } from '../../testing/upstream-classes.ts';
import {
  addPartitions,
  keepMachinesAlive,
  resourceOf,
  UpstreamCluster,
} from '../../testing/upstream-cluster.ts';
import { accountings, controllers, loginSets, nodeSets, restApis, tokens } from '../cache/resources.ts';

interface Moved {
  readonly cluster: UpstreamCluster;
  readonly slurm: Simulator;
  readonly proxy: SlurmBehindService;
  readonly workers: readonly Live[];
}

const slurmNames = ['gpu-0', 'gpu-1', 'machine-2', 'machine-3'];
/** What an object without a kubelet may say; everything else is a refusal, a conflict or a fault. */
const fine = new Set(['Ready', 'External', 'Starting', 'Initializing', 'ReplicasNotReady']);
/** They start at once, on whatever is left of this machine. */
const sevenClusters = { seconds: 400, everyMs: 250 };
const others: readonly AnyResource[] = [controllers, restApis, accountings, loginSets, tokens];
const moved = new Map<string, Moved>();
let world: OperatorWorld;
let operator: RunningOperator;
let heartbeats: Promise<void> | undefined;
const ending = new AbortController();

const workersIn = async (namespace: string): Promise<Live[]> => {
  const { items } = await world.client.list(pods, {
    namespace,
    labelSelector: 'app.kubernetes.io/name=slurmd',
  });
  return [...items];
};
const identities = (objects: readonly Live[]) =>
  objects
    .map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.labels?.[label.revision] ?? ''}`)
    .toSorted();
const readyOf = async (resource: AnyResource, namespace: string, name: string) => {
  const { status } = (await world.client.get(resource as Resource, { namespace, name })) as unknown as {
    status?: { conditions?: never[] };
  };
  return findCondition(status?.conditions, conditionType.ready);
};

interface Content {
  readonly spec?: Record<string, unknown>;
  readonly data?: object;
}

/** The live object with what upstream's operator wants in it, as it writes it; undefined for what it never writes again. */
function asUpstreamWrites(
  live: Live & Content,
  wanted: Content & { readonly kind: string },
): Content | undefined {
  switch (wanted.kind) {
    case 'ConfigMap':
      return { ...live, data: wanted.data ?? {} };
    case 'Deployment':
    case 'StatefulSet':
      return { ...live, spec: { ...live.spec, template: wanted.spec?.['template'] } };
    case 'Service':
    case 'PodDisruptionBudget':
      return { ...live, spec: { ...live.spec, selector: wanted.spec?.['selector'] } };
    default:
      return undefined;
  }
}

before(async () => {
  world = await startOperatorWorld(undefined, await startControlPlane({ serviceNetwork: loopbackServices }));
  for (const { name: namespace, change } of upstreamClasses) {
    await world.client.create(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
    });
    const cluster = new UpstreamCluster(namespace, change);
    await cluster.lay(world.server);
    heartbeats ??= keepMachinesAlive(world.client, ending.signal);
    const slurm = await startSimulator();
    for (const [index, name] of slurmNames.entries()) {
      const features = [index < 2 ? 'gpu' : 'slurm-worker-cpu'];
      slurm.cluster.addNode(name, { address: `10.244.0.${index + 10}`, features });
      Object.assign(slurm.cluster.node(name), { slurmdStartedAt: Date.now() - 3_600_000 });
    }
    addPartitions(slurm.cluster, ['gpu', 'slurm-worker-cpu']);
    slurm.cluster.runJob(['gpu-0'], { timeLimit: 60 });
    const service = await world.client.get(services, { namespace, name: 'slurm-restapi' });
    const proxy = await SlurmBehindService.open(service, slurm);
    moved.set(namespace, { cluster, slurm, proxy, workers: await workersIn(namespace) });
  }
  operator = await world.operate({ reachBy: 'address' });
});

after(async () => {
  ending.abort();
  await heartbeats;
  await world.stop();
  for (const { proxy, slurm } of moved.values()) {
    await proxy[Symbol.asyncDispose]();
    await slurm.stop();
  }
});

const classOf = (namespace: string): Moved => {
  const found = moved.get(namespace);
  assert.ok(found);
  return found;
};

for (const { name: namespace } of upstreamClasses)
  test(`${namespace}: the workers are taken over as they are, and everything else by its kind`, async () => {
    const { slurm, workers } = classOf(namespace);
    for (const name of ['slurm-worker-gpu', 'slurm-worker-cpu'])
      await until(
        `NodeSet ${name} to be Ready`,
        async () => {
          const ready = await readyOf(nodeSets, namespace, name);
          return ready?.status === 'True';
        },
        sevenClusters,
      );
    for (const resource of others) {
      const { items } = await world.client.list(resource as Resource, { namespace });
      for (const { metadata } of items) {
        const said = await until(`${resource.kind} ${metadata.name} to report`, () =>
          readyOf(resource, namespace, metadata.name),
        );
        // A Token for slurm without a token of upstream's is a new one.
        const newToken = resource.kind === 'Token' && said.reason === 'UserNotAllowed';
        assert.ok(
          fine.has(said.reason) || newToken,
          `${resource.kind} ${metadata.name}: ${said.reason} ${said.message}`,
        );
      }
    }
    assert.equal(workers.length, 4);
    assert.deepEqual(identities(await workersIn(namespace)), identities(workers), '0 workers are replaced');
    assert.equal(slurm.cluster.job(1).state, 'RUNNING');
    const orders = slurm.requests.filter(({ method }) => method !== 'GET');
    assert.ok(
      orders.every(({ method }) => method === 'POST'),
      'no node is deleted',
    );
    assert.deepEqual(
      orders.filter(({ body }) => (body as { state?: unknown }).state !== undefined),
      [],
    );
  });

test('the way back: upstream’s operator may write everything that it made, and finds its workers and revisions', async () => {
  await world.settled();
  await operator.stop();
  const config = await kubeconfigConfig({ text: world.server.kubeconfig() });
  const upstream = createClient(config, { fieldManager: 'manager', userAgent: 'manager', rateLimit: false });
  for (const [namespace, { cluster, workers }] of moved) {
    for (const manifest of cluster.made) {
      const resource = resourceOf(manifest);
      const ref = { namespace, name: manifest.metadata.name };
      const where = `${namespace}: ${manifest.kind} ${ref.name}`;
      const live = await upstream.find(resource, ref);
      assert.ok(live, `${where} is still there`);
      const again = asUpstreamWrites(live, manifest);
      if (again !== undefined) await assert.doesNotReject(upstream.replace(resource, again as never), where);
    }
    const { items } = await upstream.list(controllerRevisions, { namespace });
    const hashes = new Set(items.map(({ metadata }) => metadata.labels?.[label.revision]));
    for (const { metadata } of workers)
      assert.ok(
        hashes.has(metadata.labels?.[label.revision]),
        `${namespace}: the revision of ${metadata.name}`,
      );
  }
  upstream.close();
});
