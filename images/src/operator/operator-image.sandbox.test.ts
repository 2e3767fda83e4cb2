/** The operator's image, built and looked at: what is in it, what is not, and that its programs run in it. */
import assert from 'node:assert/strict';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { runCommand } from '@slurm-operator/sandbox';
import type { BuiltImage } from '../build-image.ts';
import { buildOperatorImage } from './build-operator-image.ts';
import { nodeVersion, pluginPath, sbomPath } from './operator-files.ts';

let image: BuiltImage;
before(async () => {
  image = await buildOperatorImage();
});

/** As the image's user, in its files only. */
const inImage = (...command: string[]) =>
  runCommand(['chroot', '--userspec=65532:65532', image.rootfs, ...command], {
    env: { PATH: '/usr/sbin:/usr/bin' },
  });

test('it is small, and runs as an unprivileged user', async () => {
  const { size } = await stat(image.path);
  assert.ok(size < 200_000_000, `${Math.round(size / 1e6)} MB`);
  assert.equal(image.description.config.user, '65532:65532');
  assert.deepEqual(image.description.config.entrypoint, ['/manager']);
});

test('its programs start: both parts of the operator, and a curl that goes nowhere', async () => {
  assert.match((await inImage('/manager', '--help')).stdout, /runs Slurm clusters on Kubernetes/);
  assert.match((await inImage('/webhook', '--help')).stdout, /validates what CEL rules cannot/);
  assert.match((await inImage('/dashboard', '--help')).stdout, /dashboard/);
  assert.equal((await inImage('/usr/bin/node', '--version')).stdout.trim(), `v${nodeVersion}`);
  await assert.rejects(inImage('/usr/bin/curl', 'http://example.org/'), /is not localhost/);
});

test('the plugin of kubectl is in it, and runs', async () => {
  const { stdout } = await inImage('/usr/bin/node', pluginPath, 'version', '--client');
  assert.match(stdout, /^plugin +\d/);
});

test('there is no shell in it, nor anything else to run', async () => {
  const files = await readdir(image.rootfs, { recursive: true, withFileTypes: true });
  const runnable: string[] = [];
  for (const file of files) {
    if (!file.isFile()) continue;
    const path = join(file.parentPath, file.name);
    const { mode, uid } = await stat(path);
    assert.equal(uid, 0, `${path} belongs to the system`);
    assert.equal(mode & 0o6022, 0, `${path} is neither setuid nor writable by others`);
    if ((mode & 0o111) !== 0) runnable.push(path.slice(image.rootfs.length));
  }
  const expected = [
    /^\/usr\/bin\/node$/,
    /^\/usr\/lib\/slurm-operator\/(manager|webhook|dashboard|curl)\.js$/,
    /^\/lib(64)?\/.*\.so\.\d+$/,
  ];
  assert.deepEqual(
    runnable.filter((path) => !expected.some((known) => known.test(path))),
    [],
  );
});

test('its bill of materials lists the runtime, the libraries and every bundled package', async () => {
  const bill = JSON.parse(await readFile(join(image.rootfs, sbomPath), 'utf8')) as {
    bomFormat: string;
    components: { name: string; version: string; purl: string }[];
  };
  assert.equal(bill.bomFormat, 'CycloneDX');
  const purls = bill.components.map(({ purl }) => purl);
  for (const wanted of [
    /^pkg:generic\/node@24/,
    /^pkg:deb\/debian\/libc6@/,
    /^pkg:npm\/pino@/,
    /^pkg:npm\/yaml@/,
  ])
    assert.ok(
      purls.some((purl) => wanted.test(purl)),
      String(wanted),
    );
  assert.equal(new Set(purls).size, purls.length, 'each once');
});

test('it is built once for the same sources', async () => {
  const again = await buildOperatorImage();
  assert.equal(again.description.id, image.description.id);
});
