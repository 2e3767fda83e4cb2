/** What a program leaves that was ended without a chance to clean up, and that `clean` removes it. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, afterEach, before, test } from 'node:test';
import { busyboxRoot } from '../../testing/busybox-root.ts';
import { namespaces, ownNamespaces, traces } from '../../testing/machine-traces.ts';
import { isAlive, type ProcessIdentity } from '../process/process-identity.ts';
import { waitUntil } from '../process/wait-until.ts';
import { cleanSandboxes } from './clean-sandboxes.ts';
import { createSandbox } from './create-sandbox.ts';
import { readRecord, SandboxRecord, sandboxesDirectory } from './sandbox-record.ts';

const name = `victim-${process.pid}`;
const clean = traces(name);
/** A setting that changes nothing of importance: how many kernel messages pass before they are held back. */
const sysctl = '/proc/sys/kernel/printk_ratelimit_burst';

let rootfs = '';
let sysctlBefore = '';
let victim: ChildProcess | undefined;
before(async () => {
  rootfs = await busyboxRoot();
  sysctlBefore = await readFile(sysctl, 'utf8');
});
afterEach(() => victim?.kill('SIGKILL'));
after(async () => {
  await rm(rootfs, { recursive: true });
  await cleanSandboxes({ name });
  await writeFile(sysctl, sysctlBefore);
});

interface Made {
  readonly pids: number[];
  readonly processes: ProcessIdentity[];
  readonly used: Set<string>;
}

/** A program with a sandbox that has one of everything, waiting to be killed. */
async function startVictim(): Promise<Made> {
  const index = join(import.meta.dirname, '../index.ts');
  const program = `
    import { createSandbox } from ${JSON.stringify(index)};
    const sandbox = await createSandbox({ name: ${JSON.stringify(name)} });
    const lan = await sandbox.addNetwork('lan');
    const rootfs = ${JSON.stringify(rootfs)};
    const a = await sandbox.startBox({ name: 'a', rootfs, networks: [lan], command: ['sh', '-c', 'sleep 1000 & sleep 1000'] });
    const b = await sandbox.startBox({ name: 'b', rootfs, networks: [lan], user: 'plain' });
    await sandbox.forward({ address: a.address, port: 80 });
    const cgroup = await sandbox.createCgroup('load');
    await cgroup.add(b.pid);
    await sandbox.setSysctl('kernel.printk_ratelimit_burst', '11');
    console.log(JSON.stringify([a.pid, b.pid, a.networkPid, b.networkPid]));
    setInterval(() => {}, 1000);`;
  victim = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: victim.stdout ?? assert.fail() });
  const [line] = (await once(lines, 'line')) as [string];
  const pids = JSON.parse(line) as number[];
  const processes = readRecord(join(sandboxesDirectory(), name))?.processes ?? [];
  const made = { pids, processes: [...processes], used: ownNamespaces(pids) };
  assert.equal(made.used.size, 10);
  assert.ok(processes.length >= 10, 'hub, keeper with its process 1, forwarder, and three per box');
  assert.ok(processes.every(isAlive));
  assert.equal((await readFile(sysctl, 'utf8')).trim(), '11');
  assert.ok(traces(name).cgroups.length > 0);
  assert.ok(traces(name).files);
  return made;
}

/** Waits, because a dead process keeps its pid namespace until the machine's process 1 has reaped it. */
async function namespacesVanish(made: Made): Promise<void> {
  await waitUntil('the namespaces to vanish', () => namespaces().intersection(made.used).size === 0, {
    timeoutMs: 90_000,
  });
}

async function assertNothingRemains(made: Made): Promise<void> {
  assert.ok(!made.processes.some(isAlive), 'no process');
  await namespacesVanish(made);
  assert.deepEqual(traces(name), clean, 'no mount, interface, cgroup, named namespace or file');
  assert.equal(await readFile(sysctl, 'utf8'), sysctlBefore, 'no changed kernel setting');
}

test('after SIGKILL of the program its processes end, and clean removes the rest', async () => {
  const made = await startVictim();
  victim?.kill('SIGKILL');
  await waitUntil('the kernel to end what belonged to the program', () => !made.processes.some(isAlive));
  await namespacesVanish(made);
  assert.ok(traces(name).cgroups.length > 0, 'cgroups outlive processes');
  assert.deepEqual(await cleanSandboxes({ name }), [name]);
  await assertNothingRemains(made);
});

test('clean also ends a sandbox whose program still runs', async () => {
  const made = await startVictim();
  await cleanSandboxes({ name });
  await assertNothingRemains(made);
});

test('the next sandbox of the same name removes what a killed program left', async () => {
  const made = await startVictim();
  victim?.kill('SIGKILL');
  await once(victim ?? assert.fail(), 'exit');
  const next = await createSandbox({ name });
  await next.stop();
  await assertNothingRemains(made);
});

test('a process number that now means another process is left alone', async () => {
  const unrelated = spawn('sleep', ['1000']);
  const owner = { pid: 1, startTime: 'never' };
  const stale = { pid: unrelated.pid ?? assert.fail(), startTime: '12345', what: 'long gone' };
  const record = new SandboxRecord(join(sandboxesDirectory(), name), {
    name,
    owner,
    processes: [stale],
    cgroups: [],
    sysctls: {},
  });
  assert.ok(readRecord(record.directory));
  await cleanSandboxes({ name });
  assert.equal(unrelated.exitCode, null);
  assert.ok(unrelated.kill('SIGTERM'));
  await once(unrelated, 'exit');
  assert.equal(unrelated.signalCode, 'SIGTERM', 'it ran until this test ended it');
});
