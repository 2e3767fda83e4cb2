/** Programs of the other architecture run in a root that is being built, and nowhere else. */
import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Architecture } from '../apt/private-apt.ts';
import { runInRoot } from './chroot.ts';
import { emulatorFor, requireKernel } from './emulation.ts';
import { unpackPackages } from './unpack-packages.ts';

const other: Architecture = process.arch === 'arm64' ? 'amd64' : 'arm64';
const machine = { amd64: 'x86_64', arm64: 'aarch64' }[other];
const [major = 0, minor = 0] = release().split('.').map(Number);
const isOld = major < 6 || (major === 6 && minor < 7);

/** Programs that the machine runs through others. */
const interpreters = () => readdir('/proc/sys/fs/binfmt_misc').catch(() => []);

const directories: string[] = [];
after(async () => {
  for (const directory of directories) await rm(directory, { recursive: true });
});

test(`a program for ${other} runs as root with every account, and only inside`, {
  skip: isOld ? `not run: Linux ${release()} is older than 6.7` : false,
}, async () => {
  const root = await mkdtemp(join(tmpdir(), 'emulated-'));
  directories.push(root);
  const { root: files } = await unpackPackages({
    suite: 'trixie',
    packages: ['busybox-static'],
    architecture: other,
  });
  await cp(files, root, { recursive: true });
  for (const name of ['proc', 'dev']) await mkdir(join(root, name));
  const busybox = '/usr/bin/busybox';
  const emulator = await emulatorFor(other);
  const before = await interpreters();
  const script = `${busybox} uname -m > /machine; : > /owned; ${busybox} chown 401:402 /owned`;
  await runInRoot({ path: root, emulator }, [busybox, 'sh', '-c', script]);
  assert.equal((await readFile(join(root, 'machine'), 'utf8')).trim(), machine);
  const { uid, gid } = await stat(join(root, 'owned'));
  assert.deepEqual([uid, gid], [401, 402], 'accounts are those of the machine');

  assert.deepEqual(await interpreters(), before, 'the table of the machine is as it was');
  await assert.rejects(runInRoot({ path: root, emulator }, [busybox, 'false']), /exit code 1/);
});

test('the machine’s own architecture needs no emulator', async () => {
  assert.equal(await emulatorFor(undefined), undefined);
  assert.equal(await emulatorFor(other === 'arm64' ? 'amd64' : 'arm64'), undefined);
});

test('a kernel that cannot keep the interpreter to one build is refused', () => {
  assert.throws(() => requireKernel('arm64', '6.1.0-18-amd64'), {
    message:
      'Linux 6.1.0-18-amd64 cannot run programs for arm64 in a build: build on a machine of that architecture, or on Linux 6.7 or later.',
  });
  requireKernel('arm64', '6.7.0');
  requireKernel('arm64', '7.0.1');
});
