/** Releases as helm keeps them, on an API server: upgraded, rolled back, removed, installed again, and several beside each other. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before as beforeAll, test } from 'node:test';
import { chart } from './src/index.ts';
import { type Any, ChartStage } from './testing/chart-stage.ts';

let stage: ChartStage;
beforeAll(async () => {
  stage = await ChartStage.open();
});
after(() => stage?.[Symbol.asyncDispose]());

const helm = async (...args: string[]): Promise<string> => (await stage.helm.run(args)).stdout;
const place = (namespace: string): string[] => ['--namespace', namespace];

async function put(
  command: 'install' | 'upgrade',
  release: string,
  name: 'slurm' | 'slurm-operator',
  namespace: string,
  values: object,
): Promise<string> {
  return helm(command, release, chart(name), ...place(namespace), '--values', await stage.helm.file(values));
}

async function list(kind: string, namespace: string): Promise<Any[]> {
  const path = `/apis/slinky.slurm.net/v1beta1/namespaces/${namespace}/${kind}`;
  return (await stage.client.json<{ items: Any[] }>('GET', path, { timeout: 60_000 })).items;
}
const names = async (kind: string, namespace: string): Promise<string[]> =>
  (await list(kind, namespace)).map(({ metadata }) => metadata.name as string).toSorted();
const specs = async (kind: string, namespace: string): Promise<Any> =>
  Object.fromEntries((await list(kind, namespace)).map(({ metadata, spec }) => [metadata.name, spec]));

const one = { nodesets: { a: { replicas: 2 } } };
const two = {
  nodesets: { a: { replicas: 3 }, b: {} },
  loginsets: { l: { enabled: true } },
  controller: { extraConfMap: { MaxJobCount: 50 } },
};

test('a release is upgraded, rolled back to what it was, removed, and installed again', async () => {
  await put('install', 'slurm', 'slurm', 'slurm', one);
  const before = [await specs('nodesets', 'slurm'), await specs('controllers', 'slurm')];
  const identities = (await list('nodesets', 'slurm')).map(({ metadata }) => metadata.uid as string);

  await put('upgrade', 'slurm', 'slurm', 'slurm', two);
  assert.deepEqual(await names('nodesets', 'slurm'), ['slurm-worker-a', 'slurm-worker-b']);
  assert.deepEqual(await names('loginsets', 'slurm'), ['slurm-login-l']);
  assert.equal((await specs('nodesets', 'slurm'))['slurm-worker-a'].replicas, 3);

  await helm('rollback', 'slurm', '1', ...place('slurm'));
  assert.deepEqual([await specs('nodesets', 'slurm'), await specs('controllers', 'slurm')], before);
  assert.deepEqual(await names('loginsets', 'slurm'), []);
  const kept = (await list('nodesets', 'slurm')).map(({ metadata }) => metadata.uid as string);
  assert.deepEqual(kept, identities, 'nothing was deleted and created again');

  await helm('uninstall', 'slurm', ...place('slurm'));
  for (const kind of ['controllers', 'nodesets', 'restapis', 'loginsets'])
    assert.deepEqual(await names(kind, 'slurm'), [], kind);
  await put('install', 'slurm', 'slurm', 'slurm', two);
  assert.deepEqual(await names('nodesets', 'slurm'), ['slurm-worker-a', 'slurm-worker-b']);
  await helm('uninstall', 'slurm', ...place('slurm'));
});

test('two clusters in one namespace and one of the same name in another do not touch each other', async () => {
  await put('install', 'slurm', 'slurm', 'team-a', one);
  await put('install', 'second', 'slurm', 'team-a', one);
  await put('install', 'slurm', 'slurm', 'team-b', one);
  const controllers = await names('controllers', 'team-a');
  assert.equal(controllers.length, 2);
  assert.equal(new Set(await names('nodesets', 'team-a')).size, 2);
  for (const { spec } of await list('nodesets', 'team-a'))
    assert.ok(controllers.includes(spec.controllerRef.name as string));
  const keys = (await list('controllers', 'team-a')).map(({ spec }) => spec.slurmKeyRef.name as string);
  assert.equal(new Set(keys).size, 2, 'each has keys of its own');

  await helm('uninstall', 'second', ...place('team-a'));
  assert.deepEqual(await names('controllers', 'team-a'), ['slurm']);
  assert.deepEqual(await names('controllers', 'team-b'), ['slurm']);
  await helm('uninstall', 'slurm', ...place('team-a'));
  await helm('uninstall', 'slurm', ...place('team-b'));
});

test('two operators, each for namespaces of its own, are installed beside each other under two names', async () => {
  const scoped = (namespaces: string) => ({
    crds: { enabled: false },
    operator: { namespaces },
    webhook: { namespaces },
  });
  await put('install', 'one', 'slurm-operator', 'team-a', scoped('team-a'));
  await assert.rejects(
    put('install', 'two', 'slurm-operator', 'team-b', scoped('team-b')),
    /"slurm-operator-admin" in namespace "" exists and cannot be imported/,
  );
  const named = { ...scoped('team-b'), fullnameOverride: 'slurm-operator-b' };
  await put('install', 'two', 'slurm-operator', 'team-b', named);

  for (const release of ['one', 'two']) {
    const namespace = release === 'one' ? 'team-a' : 'team-b';
    const rendered = await helm('get', 'manifest', release, ...place(namespace));
    const deployments = [...rendered.matchAll(/--namespaces=(\S+)/g)].map((match) => match[1]);
    assert.ok(deployments.length > 0);
    assert.deepEqual([...new Set(deployments)], [namespace], 'it looks at its own namespace only');
  }
  await helm('uninstall', 'one', ...place('team-a'));
  const roles = await stage.client.json<{ items: Any[] }>(
    'GET',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    { timeout: 60_000 },
  );
  const left = roles.items.map(({ metadata }) => metadata.name as string);
  assert.ok(left.some((name) => name.startsWith('slurm-operator-b')));
  await helm('uninstall', 'two', ...place('team-b'));
});

test('limited to namespaces, the operator changes NodeSets there only, also when its Role in one is deleted with it', async () => {
  const limited = {
    crds: { enabled: false },
    webhook: { enabled: false },
    operator: { namespaces: 'team-a' },
  };
  await put('install', 'scoped', 'slurm-operator', 'slinky', limited);
  const operator = await stage.clientOf('system:serviceaccount:slinky:slurm-operator');
  const nodeSet = (namespace: string) =>
    `/apis/slinky.slurm.net/v1beta1/namespaces/${namespace}/nodesets/slurm-worker-a`;
  const release = async (namespace: string) => {
    await operator.json('PATCH', nodeSet(namespace), {
      type: 'application/merge-patch+json',
      body: { metadata: { finalizers: null } },
      timeout: 60_000,
    });
    const { metadata } = await stage.client.json<Any>('GET', nodeSet(namespace), { timeout: 60_000 });
    return metadata.finalizers as unknown;
  };
  const held = {
    type: 'application/merge-patch+json',
    body: { metadata: { finalizers: ['nodeset.slinky.slurm.net/drain'] } },
    timeout: 60_000,
  };
  for (const namespace of ['team-a', 'team-b']) {
    await put('install', 'slurm', 'slurm', namespace, one);
    await stage.client.json('PATCH', nodeSet(namespace), held);
  }
  for (const kind of ['rolebindings', 'roles'])
    await stage.client.json(
      'DELETE',
      `/apis/rbac.authorization.k8s.io/v1/namespaces/team-a/${kind}/slurm-operator`,
      { timeout: 60_000 },
    );
  assert.equal(await release('team-a'), undefined);
  await assert.rejects(
    release('team-b'),
    /changes NodeSets in the namespaces of operator\.namespaces only: team-a/,
  );
  await assert.rejects(operator.json('GET', nodeSet('team-a'), { timeout: 60_000 }), /forbidden/);

  const unhold = { ...held, body: { metadata: { finalizers: null } } };
  await stage.client.json('PATCH', nodeSet('team-b'), unhold);
  operator.close();
  for (const namespace of ['team-a', 'team-b']) await helm('uninstall', 'slurm', ...place(namespace));
  await helm('uninstall', 'scoped', ...place('slinky'));
});

test('two operators in one namespace share neither the lease nor the certificate of the webhook', async () => {
  const own = async (values: object) => {
    const manifests = await stage.operator(values);
    const args = manifests
      .filter(({ kind }) => kind === 'Deployment')
      .flatMap((deployment) => (deployment as Any).spec.template.spec.containers[0].args as string[]);
    const of = (flag: string) => args.find((arg) => arg.startsWith(`--${flag}=`))?.split('=')[1];
    const secrets = manifests
      .filter(({ kind }) => kind === 'Role')
      .flatMap((role) => (role as Any).rules as Any[])
      .flatMap(({ resourceNames = [] }) => resourceNames as string[]);
    return { lease: of('leader-elect-name'), secret: of('cert-secret'), mayWrite: secrets };
  };
  assert.deepEqual(await own({}), {
    lease: undefined,
    secret: 'slurm-operator-webhook-ca',
    mayWrite: ['slurm-operator-webhook-ca'],
  });
  assert.deepEqual(await own({ fullnameOverride: 'second' }), {
    lease: 'second',
    secret: 'second-webhook-ca',
    mayWrite: ['second-webhook-ca'],
  });
});

test('a release whose cluster has a longer name than ours is not taken: helm would delete the cluster', async () => {
  const name = 'training-cluster-of-the-physics-of-2026';
  assert.equal(name.length, 39);
  const before = join(stage.directory, 'long');
  const controller = {
    apiVersion: 'slinky.slurm.net/v1beta1',
    kind: 'Controller',
    metadata: { name },
    spec: {
      clusterName: 'training',
      slurmKeyRef: { name: 'key', key: 'slurm.key' },
      jwtKeyRef: { name: 'key', key: 'jwt.key' },
    },
  };
  await mkdir(join(before, 'templates'), { recursive: true });
  await writeFile(join(before, 'Chart.yaml'), 'apiVersion: v2\nname: slurm\nversion: 1.2.0\n');
  await writeFile(join(before, 'templates/controller.yaml'), JSON.stringify(controller));
  await helm('install', 'long', before, ...place('team-a'));
  const values = { fullnameOverride: name, clusterName: 'training' };
  await assert.rejects(put('upgrade', 'long', 'slurm', 'team-a', values), /would delete the cluster/);
  assert.ok((await names('controllers', 'team-a')).includes(name));
  // A release of ours with such a name has always had the short one.
  await put('install', 'new', 'slurm', 'team-b', values);
  await put('upgrade', 'new', 'slurm', 'team-b', values);
  assert.deepEqual(await names('controllers', 'team-b'), [name.slice(0, 38)]);
});
