import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { busyboxRoot } from '../../testing/busybox-root.ts';
import { interfacesOf, namespaces, ownNamespaces, traces } from '../../testing/machine-traces.ts';
import { isAlive } from '../process/process-identity.ts';
import { waitUntil } from '../process/wait-until.ts';
import type { Box } from './box.ts';
import { createSandbox, type Sandbox } from './create-sandbox.ts';
import type { Network } from './network.ts';

let rootfs = '';
let sandbox: Sandbox;
let lan: Network;
const name = `test-${process.pid}`;
const clean = traces(name);

before(async () => {
  rootfs = await busyboxRoot();
});
after(() => rm(rootfs, { recursive: true }));
beforeEach(async () => {
  sandbox = await createSandbox({ name });
  lan = await sandbox.addNetwork('lan');
});
afterEach(() => sandbox.stop(100));

/** Serves its own name over HTTP. */
async function startServer(boxName: string, address?: string): Promise<Box> {
  const box = await sandbox.startBox({
    name: boxName,
    rootfs,
    networks: [address === undefined ? lan : { network: lan, address }],
    files: [{ path: '/var/www/index.html', content: `I am ${boxName}` }],
    command: ['httpd', '-f', '-p', '80', '-h', '/var/www'],
  });
  await box.waitForPort(80);
  return box;
}

/** `seconds`: short only for those who expect no answer. */
async function ask(from: Box, to: Box, seconds = 45): Promise<string | undefined> {
  const { exitCode, stdout } = await from.exec(
    ['timeout', String(seconds), 'wget', '-q', '-O', '-', `http://${to.address}:80/`],
    { allowFailure: true },
  );
  return exitCode === 0 ? stdout : undefined;
}

test('two boxes in different network namespaces talk over the bridge; one is cut off, killed, brought back; nothing remains', async () => {
  const a = await startServer('a');
  const b = await startServer('b', '10.79.0.77');
  assert.equal(a.address, '10.79.0.2');
  assert.equal(b.address, '10.79.0.77');
  assert.equal(await ask(a, b), 'I am b');
  assert.equal(await ask(b, a), 'I am a');
  assert.equal(
    ownNamespaces([a.pid]).intersection(ownNamespaces([b.pid])).size,
    0,
    'they share no namespace',
  );

  await b.cutOff();
  assert.equal(await ask(a, b, 2), undefined);
  assert.ok(b.running, 'only the cable is out');
  await b.bringBack();
  assert.equal(await ask(a, b), 'I am b');

  await b.kill();
  assert.ok(!b.running);
  assert.deepEqual(await b.exit, { code: null, signal: 'SIGKILL' });
  assert.equal(await ask(a, b, 2), undefined);
  await b.start();
  await b.waitForPort(80);
  assert.equal(await ask(a, b), 'I am b', 'same address, same files');

  assert.deepEqual(interfacesOf(name), [], 'no interface on the machine while it runs');
  const inside = await a.exec(['cat', '/sys/class/net/eth0/ifalias']);
  assert.equal(
    inside.stdout.trim(),
    `sandbox:${name}`,
    'an interface that leaked would be known by its mark',
  );
  const used = ownNamespaces([a.pid, b.pid, a.networkPid, b.networkPid]);
  assert.equal(used.size, 2 * 5, 'network, mounts, host name, IPC and processes of each');
  const record = JSON.parse(await readFile(join(sandbox.directory, 'made.json'), 'utf8')) as {
    processes: { pid: number; startTime: string }[];
  };
  assert.ok(record.processes.length >= 7, 'hub, and three per box');
  await sandbox.stop();
  await waitUntil(
    'every namespace of the boxes to be without a process',
    () => namespaces().intersection(used).size === 0,
  );
  assert.ok(!record.processes.some(isAlive), 'no recorded process is left');
  assert.deepEqual(traces(name), clean, 'no mount, interface, cgroup, named namespace or file is left');
});

test('a box has its own files, host name, user, processes and environment', async () => {
  const shared = await mkdtemp(join(tmpdir(), 'box-mount-'));
  await writeFile(join(shared, 'given'), 'from the machine');
  const box = await sandbox.startBox({
    name: 'own',
    hostname: 'other-name',
    rootfs,
    user: 'plain',
    env: { GREETING: 'two words' },
    files: [{ path: '/etc/private', content: 'x', mode: 0o600, uid: 1000, gid: 1000 }],
    mounts: [{ source: shared, target: '/mnt/shared', readOnly: true }],
    tmpfs: ['/scratch'],
    command: ['sh', '-c', 'id; echo "$GREETING"; exec sleep 1000'],
  });
  const run = async (...command: string[]) => (await box.exec(command, { allowFailure: true })).stdout.trim();
  assert.equal(await run('hostname'), 'other-name');
  assert.equal(await run('cat', '/mnt/shared/given'), 'from the machine');
  assert.equal(await run('stat', '-c', '%u %a', '/etc/private'), '1000 600');
  assert.equal(
    await run('sh', '-c', 'echo y > /mnt/shared/new; ls /mnt/shared'),
    'given',
    'mounted read-only',
  );
  await box.waitFor('its last program', async () => (await run('cat', '/proc/1/comm')) === 'sleep');
  await box.waitFor('log', () => box.logTail().includes('two words'));
  assert.match(box.logTail(), /uid=1000\(plain\) gid=1000\(plain\) groups=1000\(plain\),1001\(extra\)/);
  assert.equal((await box.exec(['id', '-u'], { user: 'plain' })).stdout.trim(), '1000');

  await run('sh', '-c', 'echo kept > /etc/kept; echo lost > /scratch/lost');
  await box.writeFile({ path: '/etc/while-running', content: 'new' });
  assert.equal(await run('cat', '/etc/while-running'), 'new');
  await box.restart(0);
  assert.equal(await run('cat', '/etc/kept', '/etc/while-running'), 'kept\nnew', 'files outlive a restart');
  assert.equal(await run('ls', '/scratch'), '', 'memory does not');
  await assert.rejects(readFile(join(rootfs, 'etc/kept')), 'the root below is untouched');
  await rm(shared, { recursive: true });
});

test('pauses a box with everything it started, and resumes it', async () => {
  const counter = ['sh', '-c', 'sh -c "while :; do echo tick; sleep 0.02; done" & wait'];
  const box = await sandbox.startBox({ name: 'counter', rootfs, command: counter });
  const ticks = () => box.logTail(1_000_000).split('tick').length;
  await box.waitFor('ticks', () => ticks() > 5);
  await box.pause();
  // What it had written before is on its way to us for a moment.
  let counted = 0;
  await box.waitFor('a log that does not grow', async () => {
    counted = ticks();
    await new Promise((resolve) => setTimeout(resolve, 200)); // ten ticks of a box that is not paused
    return ticks() === counted;
  });
  const states = () =>
    readFile(`/proc/${box.pid}/status`, 'utf8').then((text) => /^State:\s+(\S)/m.exec(text)?.[1]);
  assert.equal(await states(), 'T');
  await new Promise((resolve) => setTimeout(resolve, 200)); // ten ticks of a box that is not paused
  assert.equal(ticks(), counted);
  box.resume();
  await box.waitFor('more ticks', () => ticks() > counted + 5);
});

test('the machine reaches a box through a forward, without an interface', async () => {
  const box = await startServer('web');
  const forward = await sandbox.forward({ address: box.address, port: 80 });
  const url = `http://127.0.0.1:${forward.port}/`;
  assert.equal(await (await fetch(url)).text(), 'I am web');
  const many = await Promise.all(Array.from({ length: 20 }, async () => (await fetch(url)).text()));
  assert.deepEqual(new Set(many), new Set(['I am web']));
  await box.kill();
  await assert.rejects(fetch(url), 'a dead box is a refused connection, not a hang');
  await box.start();
  await box.waitForPort(80);
  assert.equal(await (await fetch(url)).text(), 'I am web', 'the forward outlives the box');
  await forward.close();
  await assert.rejects(fetch(url));
});

test('two networks do not reach each other; a box may be in both or share the network of another', async () => {
  const other = await sandbox.addNetwork('other');
  const web = await startServer('web');
  const separate = await sandbox.startBox({ name: 'separate', rootfs, networks: [other] });
  const both = await sandbox.startBox({ name: 'both', rootfs, networks: [other, lan] });
  assert.equal(await ask(separate, web, 2), undefined);
  assert.equal(await ask(both, web), 'I am web');
  assert.equal(both.addressOn(other), '10.79.1.3');
  const beside = await sandbox.startBox({ name: 'beside', rootfs, networkOf: web });
  const { stdout } = await beside.exec(['wget', '-q', '-O', '-', 'http://127.0.0.1:80/']);
  assert.equal(stdout, 'I am web');
  assert.equal((await beside.exec(['hostname'])).stdout.trim(), 'beside');
});

test('what cannot start says why', async () => {
  await assert.rejects(
    sandbox
      .startBox({ name: 'nothing', rootfs, command: ['/no/such/program'] })
      .then((box) => box.waitFor('x', () => false)),
    /no\/such\/program/,
  );
  await assert.rejects(
    sandbox.startBox({ name: 'who', rootfs, user: 'missing-user' }),
    /user "missing-user" is not in/,
  );
  await assert.rejects(
    sandbox.startBox({ name: 'bare', files: [{ path: '/x' }] }),
    /box bare has "files" but no rootfs/,
  );
  await assert.rejects(
    createSandbox({ name }),
    new RegExp(`sandbox ${name} is in use by process ${process.pid}`),
  );
  const box = await sandbox.startBox({
    name: 'brief',
    rootfs,
    command: ['sh', '-c', 'echo final output; exit 3'],
  });
  await assert.rejects(box.waitForPort(80), /box brief ended before port 80[^]*final output/);
  assert.deepEqual(await box.exit, { code: 3, signal: null });
  await assert.rejects(box.exec(['true']), /box brief does not run: true cannot/);
});

test('exec ends what it started when its time is up', async () => {
  const box = await sandbox.startBox({ name: 'slow', rootfs });
  await assert.rejects(box.exec(['sleep', '4321'], { timeoutMs: 300 }), /took longer than it may/);
  await box.waitFor('the end of it', async () => !/4321/.test((await box.exec(['ps'])).stdout));
});

test("a box on the machine's own files sees the machine, but has its own processes and network", async () => {
  const box = await sandbox.startBox({ name: 'bare', command: ['/bin/sleep', '1000'], networks: [lan] });
  const first = async () => (await box.exec(['cat', '/proc/1/comm'])).stdout.trim();
  await waitUntil('the command to be the first process', async () => (await first()) === 'sleep');
  assert.match((await box.exec(['cat', '/etc/os-release'])).stdout, /Debian/);
  assert.match((await box.exec(['cat', '/proc/net/dev'])).stdout, /eth0/);
});
