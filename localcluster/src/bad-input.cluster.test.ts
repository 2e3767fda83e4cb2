/** When it cannot work: one clear sentence each, and nothing left behind. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { clusterTraces } from '../testing/cluster-traces.ts';
import { up } from './cluster/control.ts';

const skip = process.getuid?.() === 0 ? false : 'needs root: namespaces, mounts and control groups';
const main = fileURLToPath(new URL('main.ts', import.meta.url));
/** Of its own: another run on this machine has another. */
const bad = `bad-${process.pid}`;
let state = '';
before(async () => {
  state = await mkdtemp(join(tmpdir(), 'localcluster-state-'));
});
after(() => rm(state, { recursive: true, force: true }));

function localcluster(...words: readonly string[]) {
  const ran = spawnSync(process.execPath, [main, ...words], {
    encoding: 'utf8',
    timeout: 300_000,
    env: { ...process.env, XDG_STATE_HOME: state },
  });
  return { code: ran.status, said: ran.stderr.trim(), out: ran.stdout };
}

const traces = (name: string) => clusterTraces(name, state);

const sentence = /^localcluster: [^\n]+\.$/;

test('a port that is in use', { skip }, async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as { port: number };
  try {
    const { code, said } = localcluster('up', '--name', bad, '--nodes', '1', '--port', String(port));
    assert.equal(code, 1);
    assert.match(said, sentence);
    assert.match(said, new RegExp(`port ${port} is in use`));
    assert.deepEqual(traces(bad), []);
  } finally {
    taken.close();
  }
});

test('numbers, names and commands that make no sense', { skip }, () => {
  for (const [words, expected] of [
    [['up', '--nodes', 'three'], /--nodes is "three": give a whole number from 0 to 200/],
    [['up', '--name', 'Big Cluster'], /name is "Big Cluster": use up to 32 small letters/],
    [['up', '--speed', '9'], /Unknown option '--speed'/],
    [['fly'], /"fly" is no command/],
    [['node', 'melt', '1'], /say what to do with which node/],
    [['up', '--cpu', 'lots'], /--cpu is "lots": give an amount such as "8"/],
    [['up', '--memory', '0'], /--memory is "0": give an amount such as "16Gi"/],
    [['load-image'], /load-image needs at least one file/],
    [['up', '--port', '99999'], /--port is "99999": give a whole number from 1 to 65535/],
    [['up', '--hollow-nodes', '-1'], /'--hollow-nodes' argument is ambiguous; `localcluster help`/],
    [['up', '--hollow-nodes=-1'], /--hollow-nodes is "-1": give a whole number from 0 to 20000/],
    [['down', '--name', '../..'], /name is "\.\.\/\.\.": use up to 32 small letters/],
    [['logs', '--name', 'missing'], /there is no cluster "missing"/],
    [['kubectl', '--name', 'missing', 'get', 'nodes'], /there is no cluster "missing"/],
    [['down', '--name', 'missing'], /there is no cluster "missing"/],
    [['env', '--name', 'missing'], /there is no cluster "missing": start it with/],
  ] as const) {
    const { code, said } = localcluster(...words);
    assert.notEqual(code, 0);
    assert.match(said, /^localcluster: [^\n]+$/, `one sentence for ${words.join(' ')}`);
    assert.match(said, expected);
  }
  assert.deepEqual(traces('Big Cluster'), []);
});

test('a wrong image tar, a stale state directory, and an end without cleaning up', { skip }, () => {
  const stale = join(state, 'slurm-operator', 'localcluster', bad);
  mkdirSync(stale, { recursive: true });
  writeFileSync(join(stale, 'cluster.json'), JSON.stringify({ name: bad, pid: 1, startTime: 'never' }));
  assert.match(
    localcluster('env', '--name', bad).said,
    new RegExp(`ended without cleaning up: \`localcluster down --name ${bad}\``),
  );
  const started = localcluster('up', '--name', bad, '--nodes', '1');
  assert.equal(started.code, 0, started.said);
  assert.match(started.out, /ended without cleaning up; clearing away what it left/);
  assert.match(localcluster('up', '--name', bad).said, new RegExp(`cluster "${bad}" is running already`));

  const text = join(state, 'no-image.tar');
  writeFileSync(text, 'this is no tar');
  const image = localcluster('load-image', '--name', bad, text);
  assert.equal(image.code, 1);
  assert.match(image.said, /no-image\.tar/);
  assert.match(localcluster('load-image', '--name', bad, join(state, 'absent.tar')).said, /absent\.tar/);
  assert.match(
    localcluster('node', 'stop', 'missing', '--name', bad).said,
    new RegExp(`there is no node "missing"; there is: ${bad}-node-1`),
  );
  assert.match(localcluster('status').out, new RegExp(`${bad}-node-1 .* running`));

  // Killed: nothing but directories may be left, and down removes those.
  const { pid } = JSON.parse(readRecord(bad)) as { pid: number };
  process.kill(pid, 'SIGKILL');
  assert.ok(
    comesTrue(() => localcluster('status').out.includes('ended without cleaning up')),
    'a killed cluster is told as such',
  );
  assert.equal(localcluster('down', '--name', bad).code, 0);
  assert.deepEqual(traces(bad), []);
  const left = () => spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout.includes(`${bad}-node-1`);
  assert.ok(
    comesTrue(() => !left()),
    'no process of it is left',
  );
});

test('without root', async (t) => {
  t.mock.method(process as { getuid: () => number }, 'getuid', () => 1000);
  await assert.rejects(
    up({ name: bad, nodes: 1, progress: () => {} }),
    /^LocalClusterError: a cluster needs root for namespaces, mounts and control groups: run this as root \(sudo\)\.$/,
  );
});

function readRecord(name: string): string {
  const path = join(state, 'slurm-operator', 'localcluster', name, 'cluster.json');
  return spawnSync('cat', [path], { encoding: 'utf8' }).stdout;
}

/** Each look starts a program, which is wait enough between two. */
function comesTrue(holds: () => boolean): boolean {
  for (let attempt = 0; attempt < 300; attempt++) if (holds()) return true;
  return false;
}
