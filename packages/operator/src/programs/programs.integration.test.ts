/** The programs as a user starts them, by their command lines, on an embedded API server: what each flag brings about. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { get } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  type KubeObject,
  leases,
  namespaces,
  type Resource,
  secrets,
  services,
  statefulSets,
} from '@slurm-operator/kube';
import { freePort, until } from '@slurm-operator/kube/testing';
import { startSimulator } from '@slurm-operator/slurm/testing';
import { aCluster, aController, aRestApi } from '../../testing/objects.ts';
import { type Manifest, type OperatorWorld, startOperatorWorld } from '../../testing/operator-world.ts';
import { accountName, restrictedConfig } from '../../testing/restricted-config.ts';
import { clusters, controllers, restApis } from '../cache/resources.ts';
import { leaseRules, managerClusterRules, managerNamespaceRules, reviewRules } from '../rbac/rules.ts';
import { managerFlagTable } from './manager-flags.ts';
import { runManager } from './run-manager.ts';
import type { Program } from './run-program.ts';
import { runWebhook } from './run-webhook.ts';
import { webhookFlagTable } from './webhook-flags.ts';

const namespace = 'hpc';
const tried = new Set<string>();
let world: OperatorWorld;
let directory: string;
let kubeconfig: string;

before(async () => {
  world = await startOperatorWorld({
    cluster: [...managerClusterRules, ...managerNamespaceRules, ...reviewRules],
    namespaces: { slinky: leaseRules },
  });
  directory = await mkdtemp(join(tmpdir(), 'programs-'));
  kubeconfig = join(directory, 'kubeconfig');
  const groups = ['system:serviceaccounts', 'system:authenticated'];
  await writeFile(
    kubeconfig,
    await world.server.kubeconfigFor({ name: accountName('slurm-operator'), groups }),
  );
  for (const [name, key] of [
    ['slurm-auth', 'slurm.key'],
    ['slurm-jwt', 'jwt.key'],
  ] as const)
    await world.client.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace },
      data: { [key]: Buffer.from('k'.repeat(64)).toString('base64') },
    } as never);
});
after(async () => {
  await world.stop();
  await rm(directory, { recursive: true });
});

/** Runs a program until the test is over. */
function run(t: TestContext, program: Program, ...flags: string[]): { readonly ended: Promise<unknown> } {
  const args = [`--kubeconfig=${kubeconfig}`, '--log-level=error', ...flags];
  for (const arg of args) tried.add(/^--([a-z0-9-]+)/.exec(arg)?.[1] ?? '');
  const stop = new AbortController();
  const ended = program(args, {}, stop.signal);
  ended.catch(() => undefined);
  t.after(async () => {
    stop.abort();
    await ended;
  });
  return { ended };
}

async function page(url: string): Promise<{ status: number; text: string }> {
  const response = await fetch(url);
  return { status: response.status, text: await response.text() };
}

const isReady = (port: number) =>
  until(`http://127.0.0.1:${port}/readyz`, async () => {
    const { status } = await page(`http://127.0.0.1:${port}/readyz`);
    return status === 200;
  });

const put = <T extends KubeObject>(
  resource: Resource<T>,
  object: Manifest,
  name = object.metadata.name,
  where = namespace,
) => world.put(resource, object, { name, namespace: where });

test('addresses, workers, the lease, and a look at one namespace only', async (t) => {
  const [health, metrics] = [await freePort(), await freePort()];
  await world.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } });
  await put(controllers, aController(), 'theirs', 'other');
  const kinds = [
    'account',
    'accounting',
    'controller',
    'loginset',
    'nodeset',
    'qos',
    'restapi',
    'slurmclient',
    'token',
  ];
  run(
    t,
    runManager,
    `--health-addr=127.0.0.1:${health}`,
    `--metrics-addr=127.0.0.1:${metrics}`,
    '--leader-elect',
    '--leader-elect-namespace=slinky',
    '--leader-elect-name=second',
    `--namespaces=${namespace}`,
    ...kinds.map((kind, index) => `--${kind}-workers=${index + 2}`),
  );
  await isReady(health);
  assert.equal((await page(`http://127.0.0.1:${health}/healthz`)).status, 200);
  await put(controllers, aController(), 'ours');
  await until('its StatefulSet', () =>
    world.client.find(statefulSets, { namespace, name: 'ours-controller' }),
  );
  assert.equal(
    await world.client.find(statefulSets, { namespace: 'other', name: 'theirs-controller' }),
    undefined,
  );
  const lease = await world.client.get(leases, { namespace: 'slinky', name: 'second' });
  assert.notEqual(lease.spec?.holderIdentity ?? '', '');
  const { text } = await page(`http://127.0.0.1:${metrics}/metrics`);
  for (const [index, kind] of kinds.entries())
    assert.match(
      text,
      new RegExp(
        `max_concurrent_reconciles\\{controller="${kind === 'qos' ? 'qualityofservice' : kind}-controller"\\} ${index + 2}\\n`,
      ),
    );
  assert.match(text, /slurm_operator_object_ready\{kind="Controller",namespace="hpc",name="ours"\} 0/);
  const vars = await page(`http://127.0.0.1:${metrics}/debug/vars`);
  const { slurmClients, uptimeSeconds } = JSON.parse(vars.text) as Record<string, unknown>;
  assert.ok(Array.isArray(slurmClients));
  assert.equal(typeof uptimeSeconds, 'number');
});

test('an operator that may listen nowhere still works', async (t) => {
  run(t, runManager, '--health-addr=0', '--metrics-addr=0');
  await put(controllers, aController(), 'unseen');
  await until('its StatefulSet', () =>
    world.client.find(statefulSets, { namespace, name: 'unseen-controller' }),
  );
});

test('secure metrics: over TLS, and HTTP/2, to those only whom the cluster lets read them', async (t) => {
  const port = await freePort();
  run(
    t,
    runManager,
    '--health-addr=0',
    `--metrics-addr=127.0.0.1:${port}`,
    '--metrics-secure',
    '--enable-http2',
  );
  const ask = (path: string, token?: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const options = { headers, rejectUnauthorized: false };
      get(`https://127.0.0.1:${port}${path}`, options, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      }).on('error', reject);
    });
  await until('it serves', async () => (await ask('/metrics')) === 401);
  const tokenOf = async (account: string) => {
    await world.client.json('POST', '/api/v1/namespaces/slinky/serviceaccounts', {
      body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account } },
    });
    const { status } = await world.client.json<{ status: { token: string } }>(
      'POST',
      `/api/v1/namespaces/slinky/serviceaccounts/${account}/token`,
      { body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} } },
    );
    return status.token;
  };
  assert.equal(await ask('/metrics', 'not-a-token'), 401);
  assert.equal(await ask('/metrics', await tokenOf('unrelated')), 403);
  await restrictedConfig(world.server, world.client, 'prometheus', {
    cluster: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] } as never],
  });
  assert.equal(await ask('/metrics', await tokenOf('prometheus')), 200);
  assert.equal(await ask('/debug/vars'), 200, 'on the same machine there is nothing to hide');
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  const status = await new Promise((resolve, reject) => {
    session.once('error', reject);
    session.request({ ':path': '/metrics' }).once('response', (headers) => resolve(headers[':status']));
  });
  session.destroy();
  assert.equal(status, 401, 'the same by HTTP/2');
});

test('profiles are served where they were asked for', async (t) => {
  const port = await freePort();
  run(t, runManager, '--health-addr=0', '--metrics-addr=0', '--profile', `--profile-addr=127.0.0.1:${port}`);
  const url = `http://127.0.0.1:${port}/debug/pprof`;
  const cpu = await until('a profile', async () => page(`${url}/profile?seconds=0.1`));
  assert.ok(Array.isArray((JSON.parse(cpu.text) as { nodes: unknown }).nodes));
  assert.equal((await page(`${url}/profile?seconds=9999`)).status, 400);
  const heap = await page(`${url}/heap`);
  assert.equal(typeof (JSON.parse(heap.text) as { head: unknown }).head, 'object');
});

test('images, and Services reached by address', async (t) => {
  run(
    t,
    runManager,
    '--health-addr=0',
    '--metrics-addr=0',
    '--image-repository=mirror/slurm',
    '--image-tag=24.11',
    '--reach-services-by=address',
  );
  await put(controllers, aController(), 'placed');
  await put(restApis, aRestApi({ controllerRef: { name: 'placed' } }), 'placed');
  const set = await until('its StatefulSet', () =>
    world.client.find(statefulSets, { namespace, name: 'placed-controller' }),
  );
  const images = set.spec?.template?.spec?.containers.map(({ image }) => image) ?? [];
  assert.ok(images.includes('mirror/slurm/slurmctld:24.11'), images.join());
  const service = await until('its Service', () =>
    world.client.find(services, { namespace, name: 'placed-restapi' }),
  );
  await until('the Cluster names the address', async () => {
    const { status } = await world.client.get(clusters, { namespace, name: 'placed' });
    const said = JSON.stringify(status);
    return said.includes(service.spec?.clusterIP ?? '?');
  });
});

test('Services are reached by name, in the domain of the cluster', async (t) => {
  run(t, runManager, '--health-addr=0', '--metrics-addr=0', '--cluster-domain=corp.local');
  await put(controllers, aController(), 'named');
  await put(restApis, aRestApi({ controllerRef: { name: 'named' } }), 'named');
  await until('the Cluster names the name', async () => {
    const { status } = await world.client.get(clusters, { namespace, name: 'named' });
    return JSON.stringify(status).includes('http://named-restapi.hpc.svc.corp.local:6820');
  });
});

test('a request that Slurm does not answer is aborted after the timeout and retried with back-off', async (t) => {
  const dials: number[] = [];
  const silent = createServer(() => void dials.push(Date.now()));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  t.after(() => silent.close());
  run(
    t,
    runManager,
    '--health-addr=0',
    '--metrics-addr=0',
    '--slurm-request-timeout=200ms',
    '--slurm-backoff-initial=100ms',
    '--slurm-backoff-max=200ms',
  );
  const server = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  await put(clusters, aCluster({ server, tokenSecretRef: { name: 'slurm-jwt', key: 'jwt.key' } }), 'silent');
  const ready = await until('it says why', async () => {
    const { status } = await world.client.get(clusters, { namespace, name: 'silent' });
    return status?.conditions?.find(({ reason }) => reason === 'ConnectionTimeout');
  });
  assert.match(ready.message, /does not respond in time/);
  // With the usual patience of 12 s and pauses up to 15 min, this would take minutes.
  await until('ten tries', () => dials.length >= 10);
});

test('Slurm is listed as often as asked', async (t) => {
  const simulator = await startSimulator({ nodes: 'n[0-1]' });
  t.after(() => simulator.stop());
  await world.client.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'token', namespace },
    data: { token: Buffer.from(simulator.token()).toString('base64') },
  } as never);
  run(t, runManager, '--health-addr=0', '--metrics-addr=0', '--slurm-poll-period=100ms');
  const { server } = simulator;
  await put(clusters, aCluster({ server, tokenSecretRef: { name: 'token', key: 'token' } }), 'polled');
  await until('it is connected', async () => {
    const { status } = await world.client.get(clusters, { namespace, name: 'polled' });
    return status?.isReady === true && status.nodes?.total === 2;
  });
  const lists = () => simulator.requests.filter(({ path }) => path === 'slurm/nodes/').length;
  // With the usual rest of five seconds this would take more than four minutes.
  await until('fifty lists', () => lists() >= 50);
});

test('as processes: LOG_LEVEL wins over the flag, help is printed, a wrong flag ends with 2', async () => {
  const start = (program: string, args: string[], env: Record<string, string> = {}) =>
    new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
      const file = fileURLToPath(new URL(`../${program}.ts`, import.meta.url));
      const child = spawn(process.execPath, [file, ...args], { env: { ...process.env, ...env } });
      const said = { out: '', err: '' };
      child.stdout.on('data', (chunk: Buffer) => {
        said.out += chunk.toString();
        // Once: a second one ends it at once.
        if (said.out.includes('"started"') && !child.killed) child.kill('SIGTERM');
      });
      child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
      child.once('close', (code) => resolve({ code, ...said }));
    });
  const flags = [`--kubeconfig=${kubeconfig}`, '--health-addr=0', '--metrics-addr=0', '--log-level=error'];
  const [loud, help, wrong] = await Promise.all([
    start('manager', flags, { LOG_LEVEL: 'debug' }),
    start('webhook', ['--help']),
    start('webhook', ['--server-addr=here']),
  ]);
  assert.equal(loud.code, 0, loud.err);
  assert.match(loud.out, /"msg":"stopped"/, 'SIGTERM ends it in good order');
  assert.match(help.out, /--server-addr +address of the admission webhook; 0 disables it \(default :9443\)/);
  assert.equal(wrong.code, 2);
  assert.equal(
    wrong.err.trim(),
    '--server-addr is "here": use an address such as :8081 or 127.0.0.1:8081, or 0 for none',
  );
});

test('an operator that cannot reach its cluster says so and ends', async () => {
  await assert.rejects(
    runManager([`--kubeconfig=${join(directory, 'none')}`], {}, new AbortController().signal),
    /kubeconfig/,
  );
  await assert.rejects(
    runWebhook([`--kubeconfig=${join(directory, 'none')}`], {}, new AbortController().signal),
    /kubeconfig/,
  );
});

/** Flags whose effect is tested beside the part they steer. */
const elsewhere: Readonly<Record<string, string>> = {
  'propagated-node-conditions': 'nodeset/plan/condition-drains.test.ts',
  'nodeset-parallel': 'nodeset/act: as many requests at once, and no more',
  'key-step-period': 'keys/key-rotation.test.ts',
  'log-level': 'manager-flags.test.ts',
  'zap-log-level': 'manager-flags.test.ts',
  'zap-devel': 'manager-flags.test.ts',
  'zap-encoder': 'manager-flags.test.ts',
  'zap-time-encoding': 'manager-flags.test.ts',
  'zap-stacktrace-level': 'manager-flags.test.ts',
  'token-exchange-addr': 'exchange/exchange.integration.test.ts',
  'token-exchange-user-prefix': 'exchange/exchange.integration.test.ts',
  'token-exchange-user-suffix': 'exchange/exchange-token.test.ts',
  'token-exchange-audiences': 'exchange/exchange.integration.test.ts',
  'server-addr': 'webhook/webhook.integration.test.ts',
  'cert-dir': 'webhook/webhook.integration.test.ts',
  'cert-secret': 'webhook/webhook.integration.test.ts',
  'service-name': 'webhook/webhook.integration.test.ts',
  'validating-configuration': 'webhook/webhook.integration.test.ts',
  'mutating-configuration': 'webhook/webhook.integration.test.ts',
};

test('every flag was tried, here or where the list says', () => {
  const all = Object.keys({ ...managerFlagTable, ...webhookFlagTable });
  assert.deepEqual(
    all.filter((flag) => !tried.has(flag) && elsewhere[flag] === undefined),
    [],
    'flags without a test of what they do',
  );
});
