/**
 * The dashboard program beside a real manager on an embedded API server, with a simulated Slurm: it has exactly its own rights, logs people
 * in with their tokens, and acts as them.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { group, label, tokenExchange } from '@slurm-operator/api';
import { startApiServer } from '@slurm-operator/apiserver';
import { configMaps, kubeconfigConfig, namespaces, pods, services } from '@slurm-operator/kube';
import { freePort, until } from '@slurm-operator/kube/testing';
import { type Simulator, startSimulator } from '@slurm-operator/slurm/testing';
import { aController, aRestApi } from '../../testing/objects.ts';
import { type OperatorWorld, startOperatorWorld } from '../../testing/operator-world.ts';
import { granted, refusals, restrictedConfig, used } from '../../testing/restricted-config.ts';
import { loopbackServices, SlurmBehindService } from '../../testing/slurm-behind-service.ts';
import { controllers, restApis } from '../cache/resources.ts';
import { runDashboard } from '../programs/run-dashboard.ts';
import { runManager } from '../programs/run-manager.ts';
import {
  dashboardClusterRules,
  dashboardExchangeRules,
  dashboardNamespaceRules,
  exchangeNamespaceRules,
  leaseRules,
  managerClusterRules,
  managerNamespaceRules,
  reviewRules,
} from '../rbac/rules.ts';

const people = 'people';
const account = 'slurm-operator-dashboard';
const rules = [...dashboardClusterRules, ...dashboardNamespaceRules, ...reviewRules];
const stop = new AbortController();
const running: Promise<unknown>[] = [];
let world: OperatorWorld;
let slurm: Simulator;
let behind: SlurmBehindService;
let directory: string;
let origin: string;
const logged: string[] = [];
const tokens: string[] = [];

before(async () => {
  keepLogLines();
  const server = await startApiServer({ serviceNetwork: loopbackServices });
  world = await startOperatorWorld(
    {
      cluster: [...managerClusterRules, ...managerNamespaceRules, ...reviewRules],
      namespaces: { slinky: [...leaseRules, ...exchangeNamespaceRules] },
    },
    { server, stop: () => server.stop() },
  );
  directory = await mkdtemp(join(tmpdir(), `dashboard-${process.pid}-`));
  await world.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: people } });
  await world.putSecret('slurm-auth', 'slurm.key', 'k'.repeat(64));
  slurm = await startSimulator({ nodes: 'n[0-3]' });
  await world.putSecret('slurm-jwt', 'jwt.key', slurm.jwtKey);
  await world.put(controllers, aController());
  await world.put(restApis, aRestApi());
  const exchangePort = await freePort();
  await serve(runManager, 'slurm-operator', [
    `--token-exchange-addr=127.0.0.1:${exchangePort}`,
    `--token-exchange-user-prefix=system:serviceaccount:${people}:`,
  ]);
  await operatorPod(exchangePort);
  const service = await until('the Service of slurmrestd', () =>
    world.client.find(services, { namespace: world.namespace, name: 'slurm-restapi' }),
  );
  behind = await SlurmBehindService.open(service, slurm);
  await writeFile(join(directory, 'index.html'), '<!doctype html><title>page</title>');
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  await restrictedConfig(world.server, world.client, account, {
    // The last one is for a dashboard outside of the cluster only.
    cluster: [...rules, { apiGroups: [''], resources: ['services'], verbs: ['list', 'watch'] }],
    namespaces: { slinky: dashboardExchangeRules },
  });
  await serve(runDashboard, account, [
    `--dashboard-addr=127.0.0.1:${port}`,
    `--page-directory=${directory}`,
    '--secure-cookies=false',
    '--reach-services-by=address',
    `--user-prefix=system:serviceaccount:${people}:`,
  ]);
  await until('it listens', async () => (await fetch(`${origin}/healthz`).catch(() => undefined))?.ok);
  const jobs = ['list', 'create', 'update', 'delete'];
  await bind('alice', [
    { resources: ['clusters', 'controllers'], verbs: ['get'] },
    { resources: ['clusters/jobs'], verbs: jobs },
  ]);
  await bind('mallory', []);
});
after(async () => {
  stop.abort();
  await Promise.allSettled(running);
  await behind?.[Symbol.asyncDispose]();
  await slurm?.[Symbol.asyncDispose]();
  const refused = refusals(world.server, account);
  const seen = new Set(used(world.server.audit.find(), account));
  const idle = [...granted([...rules, ...dashboardExchangeRules])].filter(
    (one) => !seen.has(one) && !(one.startsWith('list ') && seen.has(one.replace('list', 'watch'))),
  );
  await world.stop();
  await rm(directory, { recursive: true });
  assert.deepEqual(refused, []);
  // Without streaming lists a watch begins with a list; the exchange asks whether the dashboard may have its token.
  assert.deepEqual(idle, ['create clusters/view.slinky.slurm.net'], 'granted, and never used');
});

/** Programs log to the standard output of this process. Their lines are kept and not shown. */
function keepLogLines(): void {
  const write = process.stdout.write.bind(process.stdout);
  const tap = (chunk: string | Uint8Array, ...more: never[]) => {
    if (typeof chunk !== 'string' || !chunk.startsWith('{"level":')) return write(chunk, ...more);
    logged.push(chunk);
    return true;
  };
  process.stdout.write = tap;
}

/** Runs a program with a token of its service account, as in a pod. */
async function serve(program: typeof runManager, name: string, args: readonly string[]): Promise<void> {
  await serviceAccount(name, 'slinky');
  const { server } = await kubeconfigConfig({ text: world.server.kubeconfig() });
  const { ca = '' } = await world.client.config.identity({ refused: false });
  const kubeconfig = join(directory, `kubeconfig-${name}`);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'c', cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } },
    ],
    users: [{ name: 'u', user: { token: await tokenOf(name, 'slinky') } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  const common = [`--kubeconfig=${kubeconfig}`, '--log-level=debug', '--health-addr=0', '--metrics-addr=0'];
  const ended = program([...common, ...args], { POD_NAMESPACE: 'slinky' }, stop.signal);
  ended.catch(() => undefined);
  running.push(ended);
}

/** There is no kubelet: the pod through which the dashboard finds the exchange. */
async function operatorPod(containerPort: number): Promise<void> {
  await until('the authority', () =>
    world.client.find(configMaps, { namespace: 'slinky', name: tokenExchange.name }),
  );
  const container = { name: 'manager', image: 'x', ports: [{ name: tokenExchange.portName, containerPort }] };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'operator',
      namespace: 'slinky',
      labels: { 'app.kubernetes.io/component': 'operator' },
    },
    spec: { containers: [container] },
  };
  await world.client.create(pods, pod as never);
  const status = { podIP: '127.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] };
  const ref = { namespace: 'slinky', name: 'operator' };
  await world.client.mergePatch(pods, ref, { status }, { subresource: 'status' });
}

const serviceAccount = (name: string, namespace: string) =>
  world.client.json('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, {
    body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } },
  });

async function tokenOf(name: string, namespace = people): Promise<string> {
  const { status } = await world.client.json<{ status: { token: string } }>(
    'POST',
    `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    { body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} } },
  );
  tokens.push(status.token);
  return status.token;
}

async function bind(name: string, granting: readonly { resources: string[]; verbs: string[] }[]) {
  await serviceAccount(name, people);
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const at = `/apis/${apiVersion}/namespaces/${world.namespace}`;
  await world.client.json('POST', `${at}/roles`, {
    body: {
      apiVersion,
      kind: 'Role',
      metadata: { name },
      rules: granting.map((one) => ({ apiGroups: [group], ...one })),
    },
  });
  await world.client.json('POST', `${at}/rolebindings`, {
    body: {
      apiVersion,
      kind: 'RoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: people }],
    },
  });
}

interface Body {
  readonly rows: readonly { readonly user: string; readonly name: string }[];
  readonly clusters: readonly unknown[];
  readonly templates: readonly { readonly name: string }[];
  readonly user: string;
}

async function ask(path: string, cookie: string, body?: object) {
  const post = { Origin: origin, 'Content-Type': 'application/json' };
  const response = await fetch(`${origin}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { Cookie: cookie, ...(body && post) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
}

async function logIn(name: string): Promise<string> {
  const { status, headers, body } = await ask('/api/login', '', { token: await tokenOf(name) });
  assert.equal(status, 200, JSON.stringify(body));
  return headers.get('set-cookie')?.split(';')[0] ?? '';
}

const base = '/api/clusters/hpc/slurm';

test('a user logs in with a token, sees the nodes, and submits a job as themselves', async () => {
  const alice = await logIn('alice');
  await until('the nodes', async () => (await ask(`${base}/nodes`, alice)).body.rows?.length === 4);
  const submitted = await ask(`${base}/jobs`, alice, { script: '#!/bin/sh\n', name: 'mine', hold: true });
  assert.deepEqual([submitted.status, submitted.body.user], [200, 'alice'], JSON.stringify(submitted.body));
  const row = await until('her job', async () =>
    (await ask(`${base}/jobs`, alice)).body.rows.find(({ name }) => name === 'mine'),
  );
  assert.equal(row.user, 'alice');
  // What the page of a node and of the overview reads of Kubernetes.
  assert.equal((await ask(`${base}/overview`, alice)).status, 200);
  assert.equal((await ask(`${base}/rollouts`, alice)).status, 200);
  const { status, body } = await ask(`${base}/configuration`, alice);
  assert.equal(status, 200, JSON.stringify(body));
  assert.match(JSON.stringify(body), /ClusterName=/);
});

test('a ConfigMap with the label is a template, of this cluster or of all', async () => {
  const template = (name: string, value: string) =>
    world.client.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: world.namespace, labels: { [label.jobTemplate]: value } },
      data: { script: `#!/bin/sh\n# ${name}\n`, description: 'To begin with' },
    });
  await template('for-all', '');
  await template('for-slurm', 'slurm');
  await template('for-another', 'another');
  const { status, body } = await ask(`${base}/templates`, await logIn('alice'));
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(
    body.templates.map(({ name }) => name),
    ['for-all', 'for-slurm'],
  );
});

test('who may see no cluster sees that there is none', async () => {
  const mallory = await logIn('mallory');
  assert.deepEqual((await ask('/api/clusters', mallory)).body.clusters, []);
  assert.equal((await ask(`${base}/nodes`, mallory)).status, 403);
  assert.equal((await ask('/api/login', '', { token: 'made-up' })).status, 401);
});

test('no token of anybody is in the log, at its most talkative', async () => {
  const alice = await logIn('alice');
  const guess = `${tokens.at(-1)}x`;
  assert.equal((await ask('/api/login', '', { token: guess })).status, 401);
  assert.equal((await ask(`/api/me?token=${guess}`, '')).status, 401);
  assert.equal((await ask(`${base}/jobs`, alice, { script: `#!/bin/sh\n# ${guess}\n` })).status, 200);
  assert.equal((await ask(`${base}/jobs/cancel`, alice, { ids: ['4711'] })).status, 200);
  assert.equal((await ask('/api/logout', alice, {})).status, 200);
  const log = logged.join('');
  for (const line of ['"msg":"dashboard listens"', '"msg":"audit"', '"level":"debug"'])
    assert.ok(log.includes(line), `it has ${line}`);
  assert.equal(tokens.length >= 4, true, 'of both programs and of people');
  for (const token of tokens) assert.ok(!log.includes(token), 'a token of Kubernetes');
  const cookie = alice.split('=')[1] ?? '';
  assert.ok(cookie.length > 20 && !log.includes(cookie), 'the cookie of a session');
  // Those of Slurm, which the exchange signs, as well.
  assert.deepEqual(/eyJ[\w-]{10,}\.[\w-]{10,}/.exec(log)?.[0], undefined, 'anything that looks like a JWT');
});
