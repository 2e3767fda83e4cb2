/** The roles for people: what each may do with a cluster, and that the cluster's own roles get them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { customResourceDefinition, kinds } from '@slurm-operator/api';
import { type ApiServer, startApiServer } from '@slurm-operator/apiserver';
import { type Client, createClient, customResourceDefinitions, kubeconfigConfig } from '@slurm-operator/kube';
import { aController, aNodeSet, aToken } from '../../testing/objects.ts';
import { personRole } from './objects.ts';
import { peopleRules } from './rules.ts';

const apiVersion = 'rbac.authorization.k8s.io/v1';
const roles = `/apis/${apiVersion}`;
/** The cluster's own role, and the person of ours that it becomes. */
const people = { view: 'viewer', edit: 'user', admin: 'admin' } as const;
let server: ApiServer;
let admin: Client;

before(async () => {
  server = await startApiServer();
  admin = createClient(await kubeconfigConfig({ text: server.kubeconfig() }), { rateLimit: false });
  for (const kind of kinds)
    await admin.create(customResourceDefinitions, customResourceDefinition(kind) as never);
  for (const person of Object.values(people))
    await admin.json('POST', `${roles}/clusterroles`, {
      body: personRole('slurm', person, peopleRules[person]),
    });
  for (const [builtIn, person] of Object.entries(people))
    await admin.json('POST', `${roles}/namespaces/default/rolebindings`, {
      body: {
        apiVersion,
        kind: 'RoleBinding',
        metadata: { name: person },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: builtIn },
        subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: person }],
      },
    });
  await send(admin, 'POST', 'controllers', aController());
  await send(admin, 'POST', 'nodesets', aNodeSet());
});
after(async () => {
  admin.close();
  await server.stop();
});

async function send(client: Client, method: string, path: string, body?: object): Promise<number> {
  const written = body as { apiVersion?: string; kind?: string; metadata?: { name: string }; spec?: object };
  const object =
    written?.metadata === undefined ? body : { ...written, metadata: { name: written.metadata.name } };
  const { status } = await client.transport.request({
    method,
    path: `/apis/slinky.slurm.net/v1beta1/namespaces/default/${path}`,
    ...(object === undefined ? {} : { body: JSON.stringify(object) }),
    headers: {
      Accept: 'application/json',
      'Content-Type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
    },
    doing: `${method} ${path}`,
  });
  return status;
}

/** Which of these a person may do, by the answers. */
async function may(person: string): Promise<Record<string, boolean>> {
  const config = await kubeconfigConfig({ text: await server.kubeconfigFor({ name: person }) });
  const client = createClient(config, { rateLimit: false });
  try {
    const done = async (status: Promise<number>) => (await status) < 300;
    return {
      look: await done(send(client, 'GET', 'controllers/slurm')),
      scale: await done(send(client, 'PATCH', 'nodesets/compute/scale', { spec: { replicas: 2 } })),
      roll: await done(send(client, 'PATCH', 'nodesets/compute', { spec: { slurmd: { image: 'a:2' } } })),
      token: await done(send(client, 'POST', 'tokens', aToken({}, { name: `of-${person}` }))),
      reconfigure: await done(send(client, 'PATCH', 'controllers/slurm', { spec: { extraConf: 'A=b' } })),
      make: await done(send(client, 'POST', 'controllers', aController({}, { name: `of-${person}` }))),
      remove: await done(send(client, 'DELETE', `controllers/of-${person}`)),
      lie: await done(
        send(client, 'PATCH', 'controllers/slurm/status', { status: { clusterName: 'other' } }),
      ),
    };
  } finally {
    client.close();
  }
}

test('a viewer looks', async () => {
  assert.deepEqual(await may('viewer'), {
    look: true,
    scale: false,
    roll: false,
    token: false,
    reconfigure: false,
    make: false,
    remove: false,
    lie: false,
  });
});

test('a user also scales, rolls and makes tokens', async () => {
  assert.deepEqual(await may('user'), {
    look: true,
    scale: true,
    roll: true,
    token: true,
    reconfigure: false,
    make: false,
    remove: false,
    lie: false,
  });
});

test('an admin makes and removes clusters, and still cannot write what the operator says', async () => {
  assert.deepEqual(await may('admin'), {
    look: true,
    scale: true,
    roll: true,
    token: true,
    reconfigure: true,
    make: true,
    remove: true,
    lie: false,
  });
});
