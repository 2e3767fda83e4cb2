/** The token exchange of a real manager on an embedded API server, attacked through TLS. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { group, tokenExchange } from '@slurm-operator/api';
import { configMaps, namespaces, secrets } from '@slurm-operator/kube';
import { freePort, until } from '@slurm-operator/kube/testing';
import { aController } from '../../testing/objects.ts';
import { type OperatorWorld, startOperatorWorld } from '../../testing/operator-world.ts';
import { accountName } from '../../testing/restricted-config.ts';
import { clusters, controllers } from '../cache/resources.ts';
import { runManager } from '../programs/run-manager.ts';
import {
  exchangeNamespaceRules,
  leaseRules,
  managerClusterRules,
  managerNamespaceRules,
  reviewRules,
} from '../rbac/rules.ts';

const people = 'people';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
let world: OperatorWorld;
let directory: string;
let port: number;
let authority = '';
let stopped: Promise<unknown>;
const stop = new AbortController();

before(async () => {
  world = await startOperatorWorld({
    cluster: [...managerClusterRules, ...managerNamespaceRules, ...reviewRules],
    namespaces: { slinky: [...leaseRules, ...exchangeNamespaceRules] },
  });
  directory = await mkdtemp(join(tmpdir(), 'exchange-'));
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(
    kubeconfig,
    await world.server.kubeconfigFor({
      name: accountName('slurm-operator'),
      groups: ['system:serviceaccounts', 'system:authenticated'],
    }),
  );
  await world.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: people } });
  await world.putSecret('slurm-auth', 'slurm.key', 'k'.repeat(64));
  await world.putSecret('slurm-jwt', 'jwt.key', 'j'.repeat(64));
  await world.put(controllers, aController());
  port = await freePort();
  stopped = runManager(
    [
      `--kubeconfig=${kubeconfig}`,
      '--log-level=error',
      '--health-addr=0',
      '--metrics-addr=0',
      `--token-exchange-addr=127.0.0.1:${port}`,
      `--token-exchange-user-prefix=system:serviceaccount:${people}:`,
      '--token-exchange-user-suffix=',
      '--token-exchange-audiences=',
    ],
    { POD_NAMESPACE: 'slinky' },
    stop.signal,
  );
  stopped.catch(() => undefined);
  await until('the Cluster', () => world.client.find(clusters, { namespace: 'hpc', name: 'slurm' }));
  const published = await until('the authority', () =>
    world.client.find(configMaps, { namespace: 'slinky', name: tokenExchange.name }),
  );
  authority = published.data?.['ca.crt'] ?? '';
  await until('it listens', async () => (await post({ bearer: 'x' })).status === 401);
  await grant('alice', 'jobs');
  await grant('root', 'jobs');
  await grant('carol', 'jobs');
  await grant('flood', 'jobs');
  await grant('admin', 'nodes');
});
after(async () => {
  stop.abort();
  await stopped.catch(() => undefined);
  await world.stop();
  await rm(directory, { recursive: true });
});

/** A service account that may have tokens of this scope. */
async function grant(name: string, scope: string): Promise<void> {
  await account(name);
  const metadata = { name: `${name}-${scope}` };
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const rules = [{ apiGroups: [group], resources: [`clusters/${scope}`], verbs: ['create'] }];
  await world.client.json('POST', `${rbac}/namespaces/hpc/roles`, {
    body: { apiVersion, kind: 'Role', metadata, rules },
  });
  await world.client.json('POST', `${rbac}/namespaces/hpc/rolebindings`, {
    body: {
      apiVersion,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: people }],
    },
  });
}

const account = (name: string, namespace = people) =>
  world.client.json('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, {
    body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } },
  });

async function tokenOf(name: string, audiences?: readonly string[], namespace = people): Promise<string> {
  const { status } = await world.client.json<{ status: { token: string } }>(
    'POST',
    `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    {
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: audiences === undefined ? {} : { audiences },
      },
    },
  );
  return status.token;
}

interface Post {
  readonly bearer?: string;
  readonly body?: string;
  readonly scope?: string;
  readonly cluster?: string;
  readonly namespace?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly servername?: string;
  readonly ca?: string;
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, string>>;
}

function post({
  bearer,
  scope = 'jobs',
  cluster = 'slurm',
  namespace = 'hpc',
  ...more
}: Post): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path: tokenExchange.path,
        method: more.method ?? 'POST',
        ca: more.ca ?? authority,
        servername: more.servername ?? tokenExchange.host,
        agent: false,
        headers: {
          ...(bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` }),
          ...more.headers,
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as Answer['body'] }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(
      more.method === 'GET' ? undefined : (more.body ?? JSON.stringify({ namespace, cluster, scope })),
    );
  });
}

const claimsOf = (jwt: string) =>
  JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString('utf8')) as Record<string, unknown>;

test('a service account of people gets a token of its own user', async () => {
  const { status, body } = await post({ bearer: await tokenOf('alice') });
  assert.equal(status, 200, JSON.stringify(body));
  const { sun, exp, iat } = claimsOf(body['token'] ?? '') as { sun: string; exp: number; iat: number };
  assert.deepEqual([sun, exp - iat, body['slurmUser']], ['alice', 300, 'alice']);
});

test('attacks on the exchange', async () => {
  await account('mallory');
  await account('alice', 'hpc');
  const alice = await tokenOf('alice');
  const claims = claimsOf(alice);
  const past = Math.floor(Date.now() / 1000) - 10;
  const expired = world.server.parts.authenticator.signToken({ ...claims, exp: past });
  const forged = `${alice.split('.').slice(0, 2).join('.')}.${'A'.repeat(86)}`;
  const carol = await tokenOf('carol');
  assert.equal((await post({ bearer: carol })).status, 200);
  await world.client.json('DELETE', `/api/v1/namespaces/${people}/serviceaccounts/carol`);
  const table: readonly (readonly [string, Post, number])[] = [
    ['no token', {}, 401],
    ['an expired token', { bearer: expired }, 401],
    ['a forged signature', { bearer: forged }, 401],
    ['a token for a foreign audience', { bearer: await tokenOf('alice', ['vault']) }, 401],
    ['a replay after the account was deleted', { bearer: carol }, 401],
    ['Impersonate-User: root', { bearer: alice, headers: { 'Impersonate-User': 'root' } }, 400],
    ['Impersonate-Group', { bearer: alice, headers: { 'Impersonate-Group': 'system:masters' } }, 400],
    ['X-Remote-User: root', { bearer: alice, headers: { 'X-Remote-User': 'root' } }, 200],
    ['a user without the right', { bearer: await tokenOf('mallory') }, 403],
    ['the same name in another namespace', { bearer: await tokenOf('alice', undefined, 'hpc') }, 403],
    ['the administrator of nodes, with jobs only', { bearer: alice, scope: 'nodes' }, 403],
    ['the administrator of nodes, without consent', { bearer: await tokenOf('admin'), scope: 'nodes' }, 403],
    ['a user called root', { bearer: await tokenOf('root') }, 403],
    ['a cluster of another namespace', { bearer: alice, namespace: 'slinky' }, 403],
    ['a body of 70 kB', { bearer: alice, body: ' '.repeat(70_000) }, 413],
    ['a body that is no JSON', { bearer: alice, body: 'namespace=hpc' }, 400],
    ['GET', { bearer: alice, method: 'GET' }, 405],
  ];
  const results: string[] = [];
  for (const [attack, sent, expected] of table) {
    const { status, body } = await post(sent);
    assert.equal(status, expected, `${attack}: ${JSON.stringify(body)}`);
    // A header that a front proxy would set counts for nothing.
    if (status === 200) assert.equal(claimsOf(body['token'] ?? '')['sun'], 'alice');
    else assert.equal(body['token'], undefined);
    results.push(`${attack.padEnd(45)} ${status} ${body['message'] ?? 'a token for alice'}`);
  }
  await assert.rejects(post({ bearer: alice, ca: world.server.caPem }), /certificate|self.signed|issuer/i);
  await assert.rejects(post({ bearer: alice, servername: 'slurm-operator' }), /altnames|Hostname/);
  console.log(results.join('\n'));
});

test('with the consent of the key, and the right, a token for slurm', async () => {
  const ref = { namespace: 'hpc', name: 'slurm-jwt' };
  await world.client.mergePatch(secrets, ref, {
    metadata: { annotations: { 'slinky.slurm.net/token-users': 'slurm' } },
  });
  const { status, body } = await post({ bearer: await tokenOf('admin'), scope: 'nodes' });
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(claimsOf(body['token'] ?? '')['sun'], 'slurm');
  assert.equal((await post({ bearer: await tokenOf('root') })).status, 403, 'root is not on the list');
});

test('a flood of one user is refused after about ten tokens', async () => {
  const bearer = await tokenOf('flood');
  const from = world.server.audit.total;
  const answers = await Promise.all(
    Array.from({ length: 100 }, () =>
      post({ bearer }).then(
        ({ status }) => status,
        () => 0,
      ),
    ),
  );
  const issued = answers.filter((status) => status === 200).length;
  assert.ok(issued >= 1 && issued <= 20, `${issued} issued`);
  assert.ok(answers.filter((status) => status === 429).length >= 70);
  const reviews = world.server.audit.find(
    ({ id, resource }) => id > from && resource === 'tokenreviews',
  ).length;
  console.log(`flood: 100 requests at once, ${issued} tokens, ${reviews} reviews by the API server`);
});
