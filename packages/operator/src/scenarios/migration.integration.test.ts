/**
 * Moving from SlinkyProject/slurm-operator: its objects are taken over as they are. Nothing of upstream is built or run here; its
 * objects are hand-written copies (testdata/upstream), and Kubernetes' own controllers (StatefulSets, garbage) run beside ours.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { conditionType } from '@slurm-operator/api';
import {
  type AnyResource,
  controllerRevisions,
  createClient,
  deployments,
  findCondition,
  type KubeObject,
  kubeconfigConfig,
  type Live,
  persistentVolumeClaims,
  pods,
  type Resource,
  secrets,
  services,
  statefulSets,
} from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { startControlPlane } from '@slurm-operator/localcluster/testing';
import { type Simulator, startSimulator } from '@slurm-operator/slurm/testing';
import { type OperatorWorld, startOperatorWorld } from '../../testing/operator-world.ts';
import { loopbackServices, SlurmBehindService } from '../../testing/slurm-behind-service.ts';
import { addPartitions, UpstreamCluster } from '../../testing/upstream-cluster.ts';
import {
  accountings,
  clusters,
  controllers,
  loginSets,
  nodeSets,
  restApis,
  tokens,
} from '../cache/resources.ts';
import { readToken } from '../kinds/token/renewal.ts';

const namespace = 'hpc';
const upstream = new UpstreamCluster(namespace);
const workerNames = ['gpu-0', 'gpu-1', 'machine-2', 'machine-3'];
const isWorker = ({ metadata }: Live) => metadata.labels?.['app.kubernetes.io/name'] === 'slurmd';
let world: OperatorWorld;
let slurm: Simulator;
let proxy: SlurmBehindService;
let earlier: { workers: Live[]; claims: Live[]; secrets: Live[] };

const all = async (resource: Resource): Promise<Live[]> => [
  ...(await world.client.list(resource, { namespace })).items,
];
const get = <T extends KubeObject>(resource: Resource<T>, name: string) =>
  world.client.get(resource, { namespace, name });
const workers = async () => (await all(pods)).filter(isWorker);
const uids = (objects: readonly Live[]) =>
  objects.map(({ metadata }) => `${metadata.name} ${metadata.uid}`).toSorted();

before(async () => {
  const plane = await startControlPlane({ serviceNetwork: loopbackServices });
  world = await startOperatorWorld(undefined, plane);
  await upstream.lay(world.server);
  slurm = await startSimulator();
  for (const [index, name] of workerNames.entries()) {
    const set = index < 2 ? 'slurm-worker-gpu' : 'slurm-worker-cpu';
    slurm.cluster.addNode(name, { address: `10.244.0.${index + 10}`, features: [index < 2 ? 'gpu' : set] });
    Object.assign(slurm.cluster.node(name), { slurmdStartedAt: Date.now() - 3_600_000 });
  }
  addPartitions(slurm.cluster, ['gpu', 'slurm-worker-cpu']);
  slurm.cluster.runJob(['gpu-0'], { timeLimit: 60 });
  await storeUpstreamsToken('admin-jwt-admin', slurm.token('admin', 3600));
  await storeUpstreamsToken('slurm-bridge-jwt-slurm', slurm.token('slurm', 900));
  earlier = {
    workers: await workers(),
    claims: await all(persistentVolumeClaims),
    secrets: await all(secrets),
  };
  proxy = await SlurmBehindService.open(await get(services, 'slurm-restapi'), slurm);
  await writeUpstreamsStatus();
  await world.operate({ reachBy: 'address' });
});

after(async () => {
  await world.stop();
  await proxy[Symbol.asyncDispose]();
  await slurm.stop();
});

/** Upstream has the Secret with the key own it. */
async function storeUpstreamsToken(name: string, token: string): Promise<void> {
  const key = await get(secrets, 'slurm-auth-jwt');
  await world.client.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace,
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Secret', name: 'slurm-auth-jwt', uid: key.metadata.uid, controller: true },
      ],
    },
    data: { SLURM_JWT: Buffer.from(token).toString('base64') },
  } as never);
}

/** With fields that this operator leaves out, here or always. */
async function writeUpstreamsStatus(): Promise<void> {
  const config = await kubeconfigConfig({ text: world.server.kubeconfig() });
  const manager = createClient(config, { fieldManager: 'manager', userAgent: 'manager', rateLimit: false });
  const subresource = { subresource: 'status' } as const;
  for (const name of ['slurm-worker-gpu', 'slurm-worker-cpu']) {
    const status = { replicas: 2, autoscale: {}, collisionCount: 0 };
    await manager.mergePatch(nodeSets, { namespace, name }, { status }, subresource);
  }
  manager.close();
}

const ready = async (resource: AnyResource, name: string) => {
  const object = (await world.client.get(resource as Resource, { namespace, name })) as unknown as {
    status?: { conditions?: never[] };
  };
  return findCondition(object.status?.conditions, conditionType.ready);
};

test('workers are adopted: every one is current, registered and left running', async () => {
  for (const [name, count] of [
    ['slurm-worker-gpu', 2],
    ['slurm-worker-cpu', 2],
  ] as const) {
    const set = await until(`NodeSet ${name} to be Ready`, async () =>
      (await ready(nodeSets, name))?.status === 'True' ? get(nodeSets, name) : undefined,
    );
    assert.deepEqual(
      [set.status?.replicas, set.status?.updatedReplicas, set.status?.readyReplicas],
      [count, count, count],
      name,
    );
    assert.equal(findCondition(set.status?.conditions as never, conditionType.progressing)?.reason, 'Idle');
  }
  await world.settled();
  const now = await workers();
  assert.deepEqual(uids(now), uids(earlier.workers));
  for (const pod of now) {
    const then = earlier.workers.find(({ metadata }) => metadata.uid === pod.metadata.uid);
    assert.deepEqual((pod as { spec?: unknown }).spec, (then as { spec?: unknown }).spec, pod.metadata.name);
    assert.equal(pod.metadata.deletionTimestamp, undefined);
  }
});

test("upstream's status is replaced as a whole, and then a reconcile writes nothing", async () => {
  assert.equal((await get(nodeSets, 'slurm-worker-cpu')).status?.autoscale, undefined);
  await world.settled();
  const earlierWrites = world.writes().length;
  const poke = { metadata: { annotations: { 'kubectl.kubernetes.io/poke': 'now' } } };
  for (const name of ['slurm-worker-gpu', 'slurm-worker-cpu'])
    await world.client.mergePatch(nodeSets, { namespace, name }, poke);
  await world.client.mergePatch(controllers, { namespace, name: 'slurm' }, poke);
  await world.client.mergePatch(restApis, { namespace, name: 'slurm' }, poke);
  await world.settled();
  const writes = world.writes().slice(earlierWrites);
  assert.deepEqual(
    writes.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`),
    [],
  );
});

test('Slurm is told nothing that could hurt a job', () => {
  const orders = slurm.requests.filter(({ method }) => method !== 'GET');
  assert.ok(
    orders.every(({ method }) => method === 'POST'),
    'no node is deleted',
  );
  assert.deepEqual(
    orders.filter(({ body }) => (body as { state?: unknown }).state !== undefined),
    [],
    'no node is drained, undrained or set down',
  );
  assert.equal(slurm.cluster.job(1).state, 'RUNNING');
});

test('upstream’s revisions stay the ones in use', async () => {
  const ours = (await all(controllerRevisions)).filter(isWorker);
  assert.deepEqual(ours.map(({ metadata }) => metadata.name).toSorted(), [
    'slurm-worker-cpu-5d8f7b9c6f',
    'slurm-worker-gpu-7c9d5f6b84',
  ]);
  assert.equal((await get(nodeSets, 'slurm-worker-gpu')).status?.nodeSetHash, '7c9d5f6b84');
});

test('no claim is lost, and no key, host key or token is created again', async () => {
  assert.deepEqual(uids(await all(persistentVolumeClaims)), uids(earlier.claims));
  const now = new Map((await all(secrets)).map((one) => [one.metadata.name, one]));
  for (const secret of earlier.secrets) {
    const { name, uid } = secret.metadata;
    assert.equal(now.get(name)?.metadata.uid, uid, name);
    // slurmdbd.conf is a file of ours, made of the same password.
    if (name === 'slurm-accounting') continue;
    assert.deepEqual((now.get(name) as { data?: unknown }).data, (secret as { data?: unknown }).data, name);
  }
});

test('slurmctld’s StatefulSet is made again without touching its claim, and its Service leads to it without a label', async () => {
  const set = await until('a StatefulSet of ours', async () => {
    const found = await world.client.find(statefulSets, { namespace, name: 'slurm-controller' });
    return found?.spec?.podManagementPolicy === 'Parallel' ? found : undefined;
  });
  const containers = set.spec?.template.spec;
  assert.deepEqual(containers?.initContainers ?? [], [], 'upstream’s sidecars are gone');
  const { spec } = await get(services, 'slurm-controller');
  assert.deepEqual(spec?.selector, {
    'app.kubernetes.io/name': 'slurmctld',
    'app.kubernetes.io/instance': 'slurm',
  });
});

test('what upstream wrote and we do not want leaves Deployments and StatefulSets', async () => {
  const rest = await get(deployments, 'slurm-restapi');
  const [volume] = rest.spec?.template.spec?.volumes ?? [];
  assert.equal(volume?.projected?.sources?.length, 1, 'slurmrestd gets no key');
  const accounting = await get(statefulSets, 'slurm-accounting');
  const [slurmdbd] = accounting.spec?.template.spec?.containers ?? [];
  assert.equal(slurmdbd?.workingDir, undefined);
  const etc = accounting.spec?.template.spec?.volumes?.find(({ name }) => name === 'slurm-etc');
  assert.deepEqual(
    Object.keys(etc ?? {}).toSorted(),
    ['emptyDir', 'name'],
    'one source, not upstream’s beside ours',
  );
});

test('each kind has taken over what is its own', async () => {
  for (const [resource, name, reasons] of [
    [controllers, 'slurm', ['Starting', 'Ready']],
    [restApis, 'slurm', ['Starting', 'Ready']],
    [accountings, 'slurm', ['Starting', 'Ready']],
    [loginSets, 'slurm-login-slinky', ['Starting', 'Ready']],
    [tokens, 'admin', ['Ready']],
    [tokens, 'slurm-bridge', ['Ready']],
  ] as const) {
    const said = await until(`${resource.kind} ${name} to say how it is`, () => ready(resource, name));
    // There is no kubelet here, so what needs new pods is starting; nothing is in conflict or refused.
    assert.ok(
      (reasons as readonly string[]).includes(said.reason),
      `${resource.kind} ${name}: ${said.reason} ${said.message}`,
    );
  }
  const cluster = await get(clusters, 'slurm');
  assert.equal(
    findCondition(cluster.status?.conditions as never, conditionType.slurmConnected)?.status,
    'True',
  );
});

test('the token’s Secret goes with its Token from now on, and is renewed when it is time', async () => {
  const token = await get(tokens, 'admin');
  const secret = await until('the Secret to be the Token’s', async () => {
    const found = await get(secrets, 'admin-jwt-admin');
    return found.metadata.ownerReferences?.[0]?.uid === token.metadata.uid ? found : undefined;
  });
  assert.equal(secret.metadata.ownerReferences?.length, 1);
  const value = Buffer.from(secret.data?.['SLURM_JWT'] ?? '', 'base64').toString('utf8');
  assert.equal(readToken(value, slurm.jwtKey)?.username, 'admin');
  await world.client.mergePatch(tokens, { namespace, name: 'admin' }, { spec: { lifetime: '10m' } });
  await until('a shorter token in the same Secret', async () => {
    const found = await get(secrets, 'admin-jwt-admin');
    return (
      found.metadata.uid === secret.metadata.uid && found.data?.['SLURM_JWT'] !== secret.data?.['SLURM_JWT']
    );
  });
});

test('slurm-bridge’s Token for slurm goes on as upstream served it, and the consent is written on the key', async () => {
  const first = await get(secrets, 'slurm-bridge-jwt-slurm');
  const said = await until('the Token to be Ready', async () => {
    const found = await get(tokens, 'slurm-bridge');
    return findCondition(found.status?.conditions, conditionType.ready);
  });
  assert.equal(said.reason, 'Ready', said.message);
  const { annotations } = (await get(secrets, 'slurm-auth-jwt')).metadata;
  assert.equal(annotations?.['slinky.slurm.net/token-users'], 'slurm');
  await world.client.mergePatch(tokens, { namespace, name: 'slurm-bridge' }, { spec: { lifetime: '5m' } });
  await until('a renewed token in the same Secret', async () => {
    const found = await get(secrets, 'slurm-bridge-jwt-slurm');
    const value = Buffer.from(found.data?.['SLURM_JWT'] ?? '', 'base64').toString('utf8');
    return (
      found.metadata.uid === first.metadata.uid &&
      found.data?.['SLURM_JWT'] !== first.data?.['SLURM_JWT'] &&
      readToken(value, slurm.jwtKey)?.username === 'slurm'
    );
  });
});

test('the first real change rolls workers, one drained worker at a time', async () => {
  await world.client.mergePatch(
    nodeSets,
    { namespace, name: 'slurm-worker-gpu' },
    { spec: { slurmd: { image: 'example.com/slurmd:26.05' } } },
  );
  await until('the idle worker to be drained first', async () =>
    slurm.requests.some(({ method, path, body }) => {
      const { state } = body as { state?: unknown };
      return method === 'POST' && path.includes('gpu-1') && JSON.stringify(state ?? '').includes('DRAIN');
    }),
  );
  assert.equal(slurm.cluster.job(1).state, 'RUNNING');
});
