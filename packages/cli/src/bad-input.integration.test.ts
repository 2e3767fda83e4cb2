/** The file that users run, where something is missing, wrong or away: one sentence, exit code 2, no stack trace. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type ApiServer, startApiServer } from '@slurm-operator/apiserver';
import { secrets } from '@slurm-operator/kube';
import { signJwt } from '@slurm-operator/slurm';
import { startSimulator } from '@slurm-operator/slurm/testing';
import { CliWorld } from '../testing/cli-world.ts';
import { bundleCli } from './bundle.ts';
import { clusters } from './session/resources.ts';

const directory = mkdtempSync(join(tmpdir(), 'kubectl-slurm-bad-input-'));
const plugin = join(directory, 'kubectl-slurm');
let world: CliWorld;
/** Kubernetes without the operator. */
let bare: ApiServer;
/** A slurmrestd that has no API version of ours. */
let otherServer: Server;
before(async () => {
  const [{ content }] = await Promise.all([
    bundleCli(),
    CliWorld.start().then((started) => (world = started)),
    startApiServer().then((started) => (bare = started)),
  ]);
  writeFileSync(plugin, content, { mode: 0o755 });
  otherServer = createServer((_request, response) => {
    response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Unable find requested URL');
  }).listen(0, '127.0.0.1');
  await once(otherServer, 'listening');
});
after(async () => {
  otherServer.close();
  await Promise.all([world.stop(), bare.stop()]);
  rmSync(directory, { recursive: true, force: true });
});

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

let count = 0;

function kubeconfigFile(text: string): string {
  count += 1;
  const file = join(directory, `kubeconfig-${count}`);
  writeFileSync(file, text);
  return file;
}

/** As an administrator unless a kubeconfig is given. */
function run(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const KUBECONFIG = env['KUBECONFIG'] ?? kubeconfigFile(world.server.kubeconfig());
  const { promise, resolve } = Promise.withResolvers<Ran>();
  execFile(
    process.execPath,
    [plugin, ...words],
    { env: { PATH: process.env['PATH'], HOME: directory, ...env, KUBECONFIG }, timeout: 120_000 },
    (error, out, err) =>
      resolve({ code: error === null ? 0 : error.killed === true ? -1 : Number(error.code), out, err }),
  );
  return promise;
}

async function refuses(reason: string, says: RegExp, ran: Promise<Ran>): Promise<void> {
  const { code, out, err } = await ran;
  assert.equal(code, 2, `${reason}: ${out}${err}`);
  assert.match(err, says, reason);
  assert.equal(err.trim().split('\n').length, 1, `${reason}: one line, not ${err}`);
  assert.doesNotMatch(err, /^ +at |Error:|undefined|\[object/m, reason);
  assert.equal(out, '', reason);
}

const here = ['-n', 'hpc'];
const as = async (name: string) => ({
  KUBECONFIG: kubeconfigFile(await world.server.kubeconfigFor({ name })),
});

async function clusterAt(name: string, server: string, token: string): Promise<readonly string[]> {
  const metadata = { name, namespace: 'empty' };
  await world.client.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata,
    stringData: { SLURM_JWT: token },
  } as never);
  await world.client.create(clusters, {
    apiVersion: clusters.apiVersion,
    kind: 'Cluster',
    metadata,
    spec: { server, tokenSecretRef: { name } },
  } as never);
  return ['-n', 'empty', '--cluster', name];
}

test('no cluster, or more than one', async () => {
  await refuses('none', /no Slurm cluster in namespace empty; try -n hpc/, run(['status', '-n', 'empty']));
  await refuses(
    'two',
    /has 2 clusters \(one, two\): choose one with --cluster/,
    run(['doctor', '-n', 'twice']),
  );
  await refuses(
    'none of this name',
    /no Cluster x in namespace hpc/,
    run(['nodes', ...here, '--cluster', 'x']),
  );
});

test('Kubernetes without the CRDs, or with those of another version', async () => {
  const KUBECONFIG = kubeconfigFile(bare.kubeconfig());
  for (const command of ['status', 'doctor', 'nodes'])
    await refuses(
      command,
      /does not serve slinky\.slurm\.net\/v1beta1: the CRDs of slurm-operator are not installed, or of another version/,
      run([command], { KUBECONFIG }),
    );
  const { code, out } = await run(['check'], { KUBECONFIG });
  assert.equal(code, 1);
  assert.match(out, /A1 +The CRDs of slurm-operator are not installed/);
});

test('no rights, or not enough', async () => {
  const guest = await as('guest');
  for (const command of ['status', 'doctor', 'nodes', 'jobs'])
    await refuses(
      command,
      /You may not look: .*cannot list resource "clusters"/,
      run([command, ...here], guest),
    );
  const viewer = await as('viewer');
  await refuses('no token', /needs a Slurm token: export SLURM_JWT/, run(['jobs', ...here], viewer));
  await refuses('no token', /needs a Slurm token/, run(['drain', 'gpu-0', '--reason', 'x', ...here], viewer));
  const refused = await run(['rollout', 'pause', 'gpu', ...here], viewer);
  assert.equal(refused.code, 3);
  assert.match(refused.err, /^kubectl slurm: You may not do this: .*cannot patch resource "nodesets".*\n$/);
});

test('expired tokens, of Kubernetes and of Slurm', async () => {
  const account = '/api/v1/namespaces/empty/serviceaccounts';
  await world.client.json('POST', account, {
    body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'leaver' } },
  });
  const { status } = await world.client.json<{ status: { token: string } }>(
    'POST',
    `${account}/leaver/token`,
    {
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
    },
  );
  const claims = JSON.parse(Buffer.from(status.token.split('.')[1] ?? '', 'base64url').toString('utf8')) as {
    readonly exp: number;
  };
  const { authenticator } = world.server.parts;
  const asLeaver = (exp: number) =>
    run(['status', ...here, '--token', authenticator.signToken({ ...claims, exp })]);
  assert.match((await asLeaver(claims.exp)).err, /You may not look/, 'the token is good until it expires');
  await refuses(
    'of Kubernetes',
    /Kubernetes does not accept your credentials: log in again/,
    asLeaver(Math.floor(Date.now() / 1000) - 10),
  );
  const expired = signJwt({
    key: world.slurm.jwtKey,
    user: 'alice',
    lifetimeSeconds: 1,
    now: Date.now() - 60_000,
  });
  await refuses(
    'of Slurm',
    /token in \$SLURM_JWT expired at/,
    run(['jobs', ...here], { SLURM_JWT: expired }),
  );
  const foreign = signJwt({ key: Buffer.alloc(32, 1), user: 'alice', lifetimeSeconds: 60, now: Date.now() });
  await refuses(
    'of another key',
    /Slurm does not accept the token/,
    run(['jobs', ...here], { SLURM_JWT: foreign }),
  );
  await refuses(
    'in a Secret',
    /Slurm does not accept the token/,
    run(['jobs', ...(await clusterAt('stale', world.slurm.server, expired))]),
  );
});

test('a token in a Secret is used as its user only', async () => {
  const token = signJwt({ key: world.slurm.jwtKey, user: 'slurm', lifetimeSeconds: 600, now: Date.now() });
  const where = await clusterAt('stored', world.slurm.server, token);
  const script = join(directory, 'stored.sh');
  writeFileSync(script, '#!/bin/sh\ntrue\n');
  for (const command of [['submit', script], ['token'], ['jobs']])
    await refuses(
      command.join(' '),
      /The token in Secret stored is for Slurm user slurm, not for alice: export SLURM_JWT/,
      run([...command, '--slurm-user', 'alice', ...where]),
    );
  await refuses('unsaid', /Say who the job belongs to/, run(['submit', script, ...where]));
  assert.equal((await run(['jobs', ...where])).code, 0);
});

test('slurmrestd that is away, hangs or answers nonsense; slurmctld that is away', async () => {
  await world.slurm.refuse();
  try {
    await refuses('refused', /Slurm does not respond: .*cannot reach slurmrestd/, run(['jobs', ...here]));
  } finally {
    await world.slurm.listen();
  }
  for (const [fault, says] of [
    ['halfOpen', /Slurm does not respond: .*within 1 s/],
    ['truncate', /Slurm/],
    ['garbage', /Slurm/],
    ['controllerDown', /Slurm does not respond/],
  ] as const) {
    world.slurm.faults[fault] = true;
    try {
      await refuses(fault, says, run(['jobs', ...here, '--request-timeout', '1s']));
    } finally {
      world.slurm.faults[fault] = false;
    }
  }
  world.slurm.faults.databaseDown = true;
  try {
    await refuses('databaseDown', /Slurm does not know job 99999/, run(['job', '99999', ...here]));
  } finally {
    world.slurm.faults.databaseDown = false;
  }
});

test('a Kubernetes API that is away, and a kubeconfig that does not help', async () => {
  const away = ['status', ...here, '--server=https://127.0.0.1:1', '--request-timeout=1s'];
  await refuses('away', /The Kubernetes API does not respond/, run(away));
  await refuses('no context', /no-such/, run(['status', ...here, '--context', 'no-such']));
  await refuses('no file', /no\/such\/file/, run(['status', ...here, '--kubeconfig', '/no/such/file']));
  await refuses('no YAML', /kubeconfig/, run(['status'], { KUBECONFIG: kubeconfigFile('{"a": [') }));
});

test('a worker, node or NodeSet that does not exist', async () => {
  await refuses('worker', /There is no worker gpu-9 here/, run(['doctor', 'worker/gpu-9', ...here]));
  await refuses('node', /There is no node gpu-9 here/, run(['doctor', 'node/gpu-9', ...here]));
  await refuses('NodeSet', /There is no NodeSet x here: gpu\./, run(['doctor', 'nodeset/x', ...here]));
});

test('doctor takes a name or number without its kind', async () => {
  const found = async (word: string) => {
    const { out, err } = await run(['doctor', word, '-o', 'json', ...here]);
    assert.ok(out.startsWith('{'), `${word}: ${err}`);
    return (JSON.parse(out) as { readonly target: unknown }).target;
  };
  assert.deepEqual(await found('gpu-0'), { kind: 'node', name: 'gpu-0' });
  assert.deepEqual(await found('gpu'), { kind: 'nodeset', name: 'gpu' });
  await refuses('a number', /Slurm does not know job 99999/, run(['doctor', '99999', ...here]));
  await refuses('a name', /There is no node gpu-9 here/, run(['doctor', 'gpu-9', ...here]));
});

test('a job that is long gone, in every command that takes one', async () => {
  for (const words of [
    ['job', '99999'],
    ['job', '99999_7'],
    ['doctor', 'job/99999'],
    ['doctor', 'job/99999_7'],
    ['logs', '--job', '99999'],
  ])
    await refuses(words.join(' '), /Slurm does not know job 99999/, run([...words, ...here]));
  for (const command of ['cancel', 'hold', 'release', 'requeue'])
    await refuses(command, /job 99999: Slurm does not know it/, run([command, '99999', ...here]));
});

test('a slurmrestd of another version, and of the oldest release that is supported', async () => {
  const { port } = otherServer.address() as AddressInfo;
  const words = await clusterAt('foreign', `http://127.0.0.1:${port}`, world.slurm.token());
  for (const command of [['jobs'], ['job', '1'], ['drain', 'gpu-0', '--reason', 'x']])
    await refuses(
      command.join(' '),
      /serves none of the API versions .*Slurm 24\.05 or later/,
      run([...command, ...words]),
    );
  const older = await startSimulator({ nodes: 'old-[0-1]', release: '24.11' });
  try {
    const { code, out, err } = await run([
      'nodes',
      '-o',
      'name',
      ...(await clusterAt('older', older.server, older.token())),
    ]);
    assert.deepEqual([code, out], [0, 'node/old-0\nnode/old-1\n'], err);
  } finally {
    await older.stop();
  }
});

test('--output that a command does not have', async () => {
  await refuses(
    'text',
    /logs prints text as it comes: it takes no --output/,
    run(['logs', 'slurmctld', '-o', 'json']),
  );
  await refuses(
    'names',
    /check has no output as name: use table, wide, json, yaml/,
    run(['check', '-o', 'name']),
  );
  await refuses(
    'states',
    /--state must be one of BOOT_FAIL.* not "PNEDING"/,
    run(['jobs', '-t', 'PNEDING', ...here]),
  );
});
