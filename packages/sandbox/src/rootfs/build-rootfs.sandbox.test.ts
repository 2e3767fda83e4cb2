import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { cacheDirectory } from '../directories.ts';
import { writeImageTar } from '../image/write-image-tar.ts';
import { runCommand } from '../process/run-command.ts';
import { buildRootfs, type RootfsRequest } from './build-rootfs.ts';

/** Packages that were downloaded once serve all caches of this test. */
const downloads = join(cacheDirectory(), 'apt');
const caches: string[] = [];
const machineBefore = await machinePackages();
after(async () => {
  for (const cache of caches) await rm(cache, { recursive: true });
});

/** Everything is built again in an empty cache directory. */
async function freshCache(): Promise<string> {
  const cache = await mkdtemp(join(tmpdir(), 'rootfs-cache-'));
  caches.push(cache);
  await mkdir(downloads, { recursive: true });
  await mkdir(join(cache, 'slurm-operator'));
  await symlink(downloads, join(cache, 'slurm-operator/apt'));
  process.env['XDG_CACHE_HOME'] = cache;
  return join(cache, 'slurm-operator');
}

/** What of the machine may never change: its packages, and its apt's sources, lists and archives. */
async function machinePackages(): Promise<string> {
  const { stdout } = await runCommand([
    'find',
    '/var/lib/dpkg',
    '/etc/apt',
    '/var/lib/apt',
    '/var/cache/apt',
    '-type',
    'f',
    '-printf',
    '%p %T@ %s\\n',
  ]);
  return stdout;
}

const request: RootfsRequest = {
  name: 'small',
  suite: 'bookworm',
  packages: ['adduser', 'systemd-standalone-sysusers', 'dropbear-bin'],
  accounts: [{ name: 'worker', uid: 401, gid: 401, home: '/home/worker' }],
  files: [{ path: '/etc/hello', content: 'hello\n', mode: 0o640, uid: 401, gid: 401 }],
  commands: [['useradd', '--system', 'late']],
  remove: ['/usr/share/zoneinfo', '/var/log/*'],
};

async function imageHash(rootfs: string, output: string): Promise<string> {
  const { path } = await writeImageTar({ rootfs, tag: 'test/small:1', config: {}, output });
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}

test('built twice from nothing, an image is the same to the last byte', async () => {
  const hashes: string[] = [];
  for (const round of [1, 2]) {
    const cache = await freshCache();
    const rootfs = await buildRootfs(request);
    hashes.push(await imageHash(rootfs.path, join(cache, `${round}.tar`)));
    const { stdout } = await runCommand(['chroot', rootfs.path, 'id', 'worker']);
    assert.equal(stdout.trim(), 'uid=401(worker) gid=401(worker) groups=401(worker)');
    assert.equal((await stat(join(rootfs.path, 'etc/hello'))).mode & 0o777, 0o640);
    assert.deepEqual(await readdir(join(rootfs.path, 'var/log')), []);
    assert.equal(rootfs.versions['dropbear-bin']?.startsWith('20'), true);
    assert.ok(await stat(join(rootfs.path, 'usr/bin/dropbearkey')));
  }
  assert.equal(hashes[0], hashes[1]);
});

test('of several builders of one root, one builds and the others wait for it; later it is found', async () => {
  const wanted = { ...request, name: 'wanted-by-three' };
  const lines: string[] = [];
  const progress = (line: string) => lines.push(line);
  const all = await Promise.all([1, 2, 3].map(() => buildRootfs(wanted, { progress })));
  assert.equal(new Set(all.map((rootfs) => rootfs.path)).size, 1);
  assert.equal(
    lines.filter((line) => line.includes('wanted-by-three: installing')).length,
    1,
    lines.join('\n'),
  );
  lines.length = 0;
  assert.equal((await buildRootfs(wanted, { progress })).path, all[0]?.path);
  assert.deepEqual(lines, []);
});

test('an interrupted build leaves nothing half-made: run again, it goes on', async () => {
  const cache = cacheDirectory();
  const interrupted = { ...request, name: 'interrupted' };
  const stop = new AbortController();
  // As soon as there is something half-made: its files are being copied then, before anything is installed.
  const halfMade = () =>
    readdirSync(join(cache, 'rootfs')).some(
      (entry) =>
        /^interrupted-.*\.building$/.test(entry) && existsSync(join(cache, 'rootfs', entry, 'root/usr')),
    );
  const look = setInterval(() => halfMade() && stop.abort(new Error('interrupted')), 2);
  await assert
    .rejects(buildRootfs(interrupted, { progress: () => {}, signal: stop.signal }), /interrupted/)
    .finally(() => clearInterval(look));
  const made = (await readdir(join(cache, 'rootfs'))).filter((entry) => entry.startsWith('interrupted-'));
  assert.ok(
    made.every((entry) => /\.(lock|building)$/.test(entry)),
    made.join(' '),
  );
  const mounts = await readFile('/proc/self/mountinfo', 'utf8');
  assert.ok(!mounts.includes(cache), 'no mount of the build is left');
  const { path } = await buildRootfs(interrupted);
  assert.ok(await stat(join(path, 'etc/hello')));
  assert.deepEqual(
    (await readdir(join(cache, 'rootfs'))).filter((entry) => entry.endsWith('.building')),
    [],
  );
});

test("the machine's own packages, sources, lists and archives are as before", async () => {
  assert.equal(await machinePackages(), machineBefore);
});
