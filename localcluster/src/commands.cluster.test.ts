/** Every command of `localcluster`, as a person types it, on two clusters at once. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildBusyboxImage, busyboxImage } from '../testing/busybox-image.ts';
import { clusterTraces } from '../testing/cluster-traces.ts';
import { awaitEnd } from './cluster/cluster-directory.ts';

const skip = process.getuid?.() === 0 ? false : 'needs root: namespaces, mounts and control groups';
const main = fileURLToPath(new URL('main.ts', import.meta.url));
const [a, b] = [`one-${process.pid}`, `two-${process.pid}`];
let state = '';
let image = '';
const env = () => ({ ...process.env, XDG_STATE_HOME: state });

before(async () => {
  state = await mkdtemp(join(tmpdir(), 'localcluster-state-'));
  if (skip === false) image = await buildBusyboxImage(state);
});
after(async () => {
  for (const name of [a, b])
    if (clusterTraces(name, state).length > 0) await localcluster('down', '--name', name);
  await rm(state, { recursive: true, force: true });
});

async function localcluster(...words: readonly string[]) {
  const child = spawn(process.execPath, [main, ...words], { env: env(), timeout: 300_000 });
  let [out, said] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, said: said.trim() };
}

/** The same, and it must succeed. */
async function succeeds(...words: readonly string[]): Promise<string> {
  const { code, out, said } = await localcluster(...words);
  assert.equal(code, 0, `localcluster ${words.join(' ')}: ${said}`);
  return out;
}

const kubectl = (name: string, ...words: readonly string[]) => succeeds('kubectl', '--name', name, ...words);
const stateOf = async (node: string) =>
  new RegExp(`${node}\\s+\\S+\\s+(\\S+)`).exec(await succeeds('status'))?.[1];

test('two clusters come up at the same moment, each with its own network, nodes and images', {
  skip,
}, async () => {
  const [first, second] = await Promise.all([
    succeeds('up', '--name', a, '--nodes', '2', '--image', image, '--cpu', '3', '--memory', '5Gi'),
    succeeds('up', '--name', b, '--nodes', '1', '--hollow-nodes', '2', '--node-grace-seconds', '5'),
  ]);
  const network = (said: string) => /network (\S+)/.exec(said)?.[1];
  assert.match(network(first) ?? '', /^10\.\d+\.0\.0\/16$/);
  assert.notEqual(network(first), network(second));
  assert.match(first, new RegExp(`cluster "${a}" is up after [\\d.]+ s`));

  const status = await succeeds('status');
  for (const node of [`${a}-node-1`, `${a}-node-2`, `${b}-node-1`]) assert.match(status, new RegExp(node));
  assert.match(status, new RegExp(`images: \\S*${busyboxImage}`));
  const capacity = await kubectl(a, 'get', 'node', `${a}-node-1`, '-o', 'jsonpath={.status.capacity}');
  assert.match(capacity, /"cpu":"3"/);
  assert.match(capacity, /"memory":"5Gi"/);
  const nodes = await kubectl(b, 'get', 'nodes', '-o', 'name');
  assert.equal(nodes.trim().split('\n').length, 3, 'one real, two hollow');
});

test('env prints the line that a shell needs', { skip }, async () => {
  const line = await succeeds('env', '--name', b);
  assert.match(line, /^export KUBECONFIG=\S+\n$/);
  const { stdout, stderr } = spawnSync(
    'sh',
    [
      '-c',
      `eval "$("$0" "$1" env --name ${b})"; exec "$0" -p 'process.env.KUBECONFIG'`,
      process.execPath,
      main,
    ],
    { env: env(), encoding: 'utf8' },
  );
  assert.ok(existsSync(stdout.trim()), `${stdout}${stderr}`);
});

test('load-image gives an image to one cluster and not to the other', { skip }, async () => {
  assert.doesNotMatch(await kubectl(b, 'get', 'node', `${b}-node-1`, '-o', 'yaml'), new RegExp(busyboxImage));
  assert.match(await succeeds('load-image', '--name', b, image), new RegExp(`image \\S*${busyboxImage}`));
  for (const name of [a, b]) {
    await kubectl(name, 'run', 'p', `--image=${busyboxImage}`, '--', '-c', `echo in ${name}; sleep 100000`);
    await kubectl(name, 'wait', 'pod/p', '--for=condition=Ready', '--timeout=180s');
    let words = '';
    // A container runs a moment before its program writes output.
    for (let attempt = 0; attempt < 300 && words === ''; attempt++) words = await kubectl(name, 'logs', 'p');
    assert.equal(words, `in ${name}\n`);
  }
});

test('kubectl hands its exit code and its words on', { skip }, async () => {
  const { code, said } = await localcluster('kubectl', '--name', a, 'get', 'pod', 'missing');
  assert.equal(code, 1);
  assert.match(said, /pods "missing" not found/);
  assert.equal((await localcluster('kubectl', '--name', a, 'exec', 'p', '--', 'sh', '-c', 'exit 9')).code, 9);
});

test('logs shows the log of the cluster, and follows it until it is ended', { skip }, async () => {
  const log = await succeeds('logs', '--name', b);
  assert.match(log, /"level"/);
  const follower = spawn(process.execPath, [main, 'logs', '--name', b, '--follow'], {
    env: env(),
    timeout: 180_000,
  });
  const [line] = (await once(createInterface({ input: follower.stdout }), 'line', {
    signal: AbortSignal.timeout(180_000),
  })) as [string];
  assert.equal(line, log.split('\n')[0], 'from the beginning on');
  assert.equal(follower.exitCode, null, 'and stays');
  follower.kill();
  await once(follower, 'close', { signal: AbortSignal.timeout(180_000) });
});

test('node cut, node stop and node start do to one node what they say', { skip }, async () => {
  const node = `${b}-node-1`;
  const ready = () =>
    kubectl(b, 'get', 'node', node, '-o', 'jsonpath={.status.conditions[?(@.type=="Ready")].status}');
  const wait = (status: string) =>
    kubectl(b, 'wait', `node/${node}`, `--for=condition=Ready=${status}`, '--timeout=180s');
  const id = () => kubectl(b, 'get', 'pod', 'p', '-o', 'jsonpath={.status.containerStatuses[0].containerID}');
  const began = await id();

  assert.match(await succeeds('node', 'cut', '1', '--name', b), /node 1 is cut off the network/);
  assert.equal(await stateOf(node), 'cut');
  await wait('Unknown');
  assert.match(await succeeds('node', 'start', '1', '--name', b), /node 1 is back/);
  await wait('True');
  assert.equal(await id(), began, 'its containers ran on');

  assert.match(await succeeds('node', 'stop', node, '--name', b), /is without power/);
  assert.equal(await stateOf(node), 'stopped');
  await wait('Unknown');
  await succeeds('node', 'start', node, '--name', b);
  await wait('True');
  await kubectl(b, 'wait', 'pod/p', '--for=condition=Ready', '--timeout=180s');
  assert.notEqual(await id(), began, 'its containers were started again');
  assert.equal(await ready(), 'True');
  assert.equal(await stateOf(`${a}-node-1`), 'running', 'the other cluster has not noticed');
});

test('down takes one cluster away without a trace and leaves the other alone', { skip }, async () => {
  assert.ok(clusterTraces(a, state).length > 2, 'a running cluster is seen');
  const { pid, startTime } = JSON.parse(
    await readFile(join(state, 'slurm-operator', 'localcluster', a, 'cluster.json'), 'utf8'),
  ) as { pid: number; startTime: string };
  assert.match(await succeeds('down', '--name', a), new RegExp(`cluster "${a}" is gone`));
  assert.equal(await awaitEnd({ pid, startTime }, 0), true, 'its process is gone when down says so');
  assert.deepEqual(clusterTraces(a, state), []);
  const status = await succeeds('status');
  assert.doesNotMatch(status, new RegExp(a));
  assert.equal(await kubectl(b, 'get', 'pod', 'p', '-o', 'jsonpath={.status.phase}'), 'Running');
  await succeeds('down', '--name', b);
  assert.deepEqual(clusterTraces(b, state), []);
  assert.match(await succeeds('status'), /no cluster runs on this machine/);
});

test('of two that start the same cluster one wins, and an interrupted start leaves nothing', {
  skip,
}, async () => {
  const results = await Promise.all([1, 2].map(() => localcluster('up', '--name', a, '--nodes', '1')));
  const codes = new Set(results.map(({ code }) => code));
  assert.deepEqual(codes, new Set([0, 1]), results.map(({ said }) => said).join('\n'));
  assert.match(results.find(({ code }) => code === 1)?.said ?? '', /is running already/);
  assert.equal((await kubectl(a, 'get', 'nodes', '-o', 'name')).trim(), `node/${a}-node-1`);
  await succeeds('down', '--name', a);

  const starting = spawn(process.execPath, [main, 'up', '--name', a, '--nodes', '3'], { env: env() });
  let said = '';
  starting.stderr.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')));
  await once(starting.stdout, 'data', { signal: AbortSignal.timeout(180_000) }); // it has begun to say how it goes
  starting.kill('SIGINT');
  const [code] = (await once(starting, 'close')) as [number | null];
  assert.equal(code, 1);
  assert.match(said, /the start was interrupted/);
  assert.deepEqual(clusterTraces(a, state), []);
});
