/**
 * The client half of the token exchange: the file that users run, through a port-forward to the manager, and with the token to slurmrestd.
 * What only real daemons decide (who owns a job) is in e2e.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tokenExchange } from '@slurm-operator/api';
import { type ForwardingNode, startForwardingNode } from '@slurm-operator/apiserver/testing';
import { configMaps, namespaces, pods, secrets } from '@slurm-operator/kube';
import { freePort, until } from '@slurm-operator/kube/testing';
import { CliWorld } from '../testing/cli-world.ts';
import { bundleCli } from './bundle.ts';
import { clusters, controllers, restApis } from './session/resources.ts';

const people = 'people';
const here = 'lab';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const program = fileURLToPath(new URL('../../operator/src/manager.ts', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'kubectl-slurm-exchange-'));
const plugin = join(directory, 'kubectl-slurm');
let world: CliWorld;
let node: ForwardingNode;
let manager: ChildProcess;

before(async () => {
  const [{ content }] = await Promise.all([
    bundleCli(),
    CliWorld.start().then((started) => (world = started)),
  ]);
  writeFileSync(plugin, content, { mode: 0o755 });
  const exchangePort = await freePort();
  node = await startForwardingNode(world.server, (pod) =>
    pod === 'slurm-operator-0' ? exchangePort : Number(new URL(world.slurm.server).port),
  );
  for (const name of [people, here])
    await world.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await createCluster();
  await createPod('slinky', 'slurm-operator-0', {
    labels: { 'app.kubernetes.io/name': 'slurm-operator', 'app.kubernetes.io/component': 'operator' },
    port: { name: tokenExchange.portName, containerPort: 9444 },
  });
  await createPod(here, 'lab-restapi-0', {
    labels: { 'app.kubernetes.io/component': 'restapi', 'app.kubernetes.io/instance': here },
    port: { name: 'slurmrestd', containerPort: 6820 },
    container: 'slurmrestd',
  });
  for (const name of ['alice', 'root', 'backup', 'mallory', 'carol', 'dave', 'flood']) {
    await account(people, name);
    await bind(name, name === 'mallory' ? 'slurm-viewer' : 'slurm-user', here);
    await bind(name, 'slurm-user', 'slinky');
  }
  await account(here, 'alice');
  const kubeconfig = join(directory, 'manager');
  writeFileSync(kubeconfig, world.server.kubeconfig());
  const flags = [
    `--kubeconfig=${kubeconfig}`,
    '--log-level=error',
    '--health-addr=0',
    '--metrics-addr=0',
    `--token-exchange-addr=127.0.0.1:${exchangePort}`,
    `--token-exchange-user-prefix=system:serviceaccount:${people}:`,
    '--token-exchange-user-suffix=',
    '--token-exchange-audiences=',
  ];
  manager = spawn(process.execPath, [program, ...flags], {
    env: { PATH: process.env['PATH'], POD_NAMESPACE: 'slinky' },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await until('the authority is published', () =>
    world.client.find(configMaps, { namespace: 'slinky', name: tokenExchange.name }),
  );
  await until('alice gets a token', async () => (await as(await tokenOf('dave'), ['token'])).code === 0);
});
after(async () => {
  const ended = once(manager, 'exit');
  manager.kill('SIGTERM');
  await ended;
  await node[Symbol.asyncDispose]();
  await world.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function createCluster(): Promise<void> {
  const metadata = { name: here, namespace: here };
  const { apiVersion } = clusters;
  const keys: readonly (readonly [string, string, Buffer])[] = [
    ['lab-auth', 'slurm.key', Buffer.alloc(64, 'k')],
    ['lab-jwt', 'jwt.key', Buffer.from(world.slurm.jwtKey)],
  ];
  for (const [name, key, value] of keys)
    await world.client.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: here },
      data: { [key]: value.toString('base64') },
    } as never);
  const spec = {
    slurmKeyRef: { name: 'lab-auth', key: 'slurm.key' },
    jwtKeyRef: { name: 'lab-jwt', key: 'jwt.key' },
  };
  await world.client.create(controllers, { apiVersion, kind: 'Controller', metadata, spec } as never);
  const controllerRef = { name: here };
  await world.client.create(restApis, {
    apiVersion,
    kind: 'RestApi',
    metadata,
    spec: { controllerRef },
  } as never);
  await world.client.create(clusters, {
    apiVersion,
    kind: 'Cluster',
    metadata,
    spec: { controllerRef },
  } as never);
}

interface PodOptions {
  readonly labels: Readonly<Record<string, string>>;
  readonly port: { readonly name: string; readonly containerPort: number };
  readonly container?: string;
}

async function createPod(namespace: string, name: string, options: PodOptions): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const { labels, port, container = 'manager' } = options;
  const spec = { nodeName: node.name, containers: [{ name: container, image: 'i:1', ports: [port] }] };
  await world.client.json('POST', path, {
    body: { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels }, spec },
  });
  const stored = await world.client.json<object>('GET', `${path}/${name}`);
  await world.client.json('PUT', `${path}/${name}/status`, {
    body: { ...stored, status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } },
  });
}

const account = (namespace: string, name: string) =>
  world.client.json('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, {
    body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } },
  });

const bind = (name: string, role: string, namespace: string) =>
  world.client.json('POST', `${rbac}/namespaces/${namespace}/rolebindings`, {
    body: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: `${name}-${role}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', name, namespace: people }],
    },
  });

async function tokenOf(name: string, audiences?: readonly string[], namespace = people): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const spec = audiences === undefined ? {} : { audiences };
  const { status } = await world.client.json<{ status: { token: string } }>('POST', path, {
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec },
  });
  return status.token;
}

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

let files = 0;

/** The plugin with a kubeconfig that has this bearer token. */
function as(token: string, words: readonly string[]): Promise<Ran> {
  const ca = Buffer.from(world.server.caPem).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: world.server.url, 'certificate-authority-data': ca } }],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: here } }],
    'current-context': 'x',
  };
  return withKubeconfig(JSON.stringify(config), words);
}

function withKubeconfig(text: string, words: readonly string[]): Promise<Ran> {
  files += 1;
  const kubeconfig = join(directory, `kubeconfig-${files}`);
  writeFileSync(kubeconfig, text, { mode: 0o600 });
  const env = { PATH: process.env['PATH'], HOME: directory, KUBECONFIG: kubeconfig };
  const { promise, resolve } = Promise.withResolvers<Ran>();
  execFile(process.execPath, [plugin, ...words], { env, timeout: 120_000 }, (error, out, err) =>
    resolve({ code: error === null ? 0 : error.killed === true ? -1 : Number(error.code), out, err }),
  );
  return promise;
}

const claimsOf = (jwt: string) =>
  JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString('utf8')) as Record<string, unknown>;

test('a person gets a token of their own, for five minutes, and Slurm sees them', async () => {
  const token = await tokenOf('alice');
  const { code, out, err } = await as(token, ['token']);
  assert.equal(code, 0, err);
  assert.match(err, /This is a token for Slurm user alice, for five minutes/);
  const { sun, exp, iat } = claimsOf(out.trim()) as { sun: string; exp: number; iat: number };
  assert.deepEqual([sun, exp - iat], ['alice', 300]);
  const from = world.slurm.requests.length;
  const jobs = await as(token, ['jobs', '-a']);
  assert.equal(jobs.code, 0, jobs.err);
  // The operator asks too, as itself.
  assert.ok(
    world.slurm.requests.slice(from).some(({ user, path }) => user === 'alice' && path.includes('jobs')),
  );
});

test('a manager that ends is not asked', async () => {
  // Its name comes first, and nothing answers there as the exchange does.
  await createPod('slinky', 'slurm-operator--old', {
    labels: { 'app.kubernetes.io/name': 'slurm-operator', 'app.kubernetes.io/component': 'operator' },
    port: { name: tokenExchange.portName, containerPort: 9444 },
  });
  const ref = { namespace: 'slinky', name: 'slurm-operator--old' };
  await world.client.delete(pods, ref);
  const { metadata } = await world.client.get(pods, ref);
  assert.notEqual(metadata.deletionTimestamp, undefined);
  const { code, err } = await as(await tokenOf('alice'), ['token']);
  assert.equal(code, 0, err);
});

test('attacks through the plugin', async () => {
  const alice = await tokenOf('alice');
  const claims = claimsOf(alice) as { readonly exp: number };
  const { authenticator } = world.server.parts;
  const expired = authenticator.signToken({ ...claims, exp: Math.floor(Date.now() / 1000) - 10 });
  const forged = `${alice.split('.').slice(0, 2).join('.')}.${'A'.repeat(86)}`;
  const carol = await tokenOf('carol');
  assert.equal((await as(carol, ['token'])).code, 0);
  await world.client.json('DELETE', `/api/v1/namespaces/${people}/serviceaccounts/carol`);
  const table: readonly (readonly [string, string, readonly string[], RegExp])[] = [
    ['an expired token', expired, ['token'], /does not accept your credentials/],
    ['a forged signature', forged, ['token'], /does not accept your credentials/],
    [
      'a token for a foreign audience',
      await tokenOf('alice', ['vault']),
      ['token'],
      /does not accept your credentials/,
    ],
    ['a replay after the account was deleted', carol, ['token'], /does not accept your credentials/],
    ['--as root', alice, ['token', '--as', 'root'], /knows only your own token|cannot impersonate/],
    ['--slurm-user root', alice, ['token', '--slurm-user', 'root'], /right to read Secret lab-jwt/],
    ['a user called root', await tokenOf('root'), ['token'], /tokens for root need consent/],
    ['a system account', await tokenOf('backup'), ['token'], /system account/],
    ['no right to clusters/jobs', await tokenOf('mallory'), ['token'], /may not create clusters\/jobs/],
    [
      'the same name in another namespace',
      await tokenOf('alice', undefined, here),
      ['token'],
      /If the operator in namespace slinky exchanges tokens, not for you: ask for the Role slurm-operator-token-exchange there/,
    ],
    [
      'a drain by a person without clusters/nodes',
      alice,
      ['drain', 'gpu-0', '--reason', 'x'],
      /You act as yourself, not as Slurm's administrator: .* may not create clusters\/nodes/,
    ],
  ];
  const results: string[] = [];
  for (const [attack, token, words, says] of table) {
    const from = world.slurm.requests.length;
    const { code, out, err } = await as(token, words);
    const said = `${out}${err}`.trim().replaceAll(/\s+/g, ' ');
    assert.match(said, says, attack);
    assert.doesNotMatch(said, / at .*\.[jt]s:\d+|Error:/, attack);
    const writers = new Set(
      world.slurm.requests.slice(from).flatMap(({ method, user }) => (method === 'GET' ? [] : [user])),
    );
    // Slurm decides about the drain, and it is asked as alice, never as an administrator.
    if (words[0] === 'drain') assert.deepEqual([...writers], ['alice'], said);
    else assert.deepEqual([code, writers.size, out], [2, 0, ''], `${attack}: ${said}`);
    results.push(`${attack.padEnd(45)} exit ${code}  ${said.slice(0, 140)}`);
  }
  console.log(results.join('\n'));
});

test('a client certificate cannot be exchanged, and one sentence says what to do', async () => {
  const kubeconfig = await world.server.kubeconfigFor({ name: 'erin' });
  for (const [role, namespace] of [
    ['slurm-user', here],
    ['slurm-user', 'slinky'],
  ] as const)
    await world.client.json('POST', `${rbac}/namespaces/${namespace}/rolebindings`, {
      body: {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: `erin-${role}` },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'erin' }],
      },
    });
  const { code, out, err } = await withKubeconfig(kubeconfig, ['-n', here, 'jobs']);
  assert.deepEqual([code, out], [2, ''], err);
  assert.match(
    err,
    /client certificate, which only the API server can check; log in with a token .*export SLURM_JWT/,
  );
  assert.equal(err.trim().split('\n').length, 1);
  console.log(`a client certificate: exit ${code}  ${err.trim()}`);
});

test('a flood of one person is refused, and others go on', async () => {
  const flood = await tokenOf('flood');
  const answers = await Promise.all(Array.from({ length: 16 }, () => as(flood, ['token'])));
  const refused = answers.filter(({ code }) => code === 2);
  assert.ok(refused.length > 0 && refused.length < 16, `${refused.length} of 16 refused`);
  for (const { err } of refused) assert.match(err, /too many requests/);
  assert.equal((await as(await tokenOf('dave'), ['token'])).code, 0);
  console.log(`flood: ${refused.length} of 16 at once are refused`);
});
