/** A release of a tiny image and the real charts, published to a registry on loopback and read back. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Helm, type Manifest } from '@slurm-operator/charts';
import { runCommand, unpackTools, writeImageTar } from '@slurm-operator/sandbox';
import { type LocalRegistry, registryAccount, startLocalRegistry } from '../testing/local-registry.ts';
import type { ImageBuild } from './build-images.ts';
import { makeRelease, type Released } from './make-release.ts';
import { credentialsFile } from './push.ts';
import { type ReleaseRequest, readRequest } from './request.ts';

const version = '1.2.3';
let directory: string;
let repository: string;
let registry: LocalRegistry;
let credentials: string;
let skopeo: string;

const request = (more: object = {}): ReleaseRequest =>
  readRequest({ VERSION: version, REGISTRY: `${registry.address}/hpc`, PUSH: 'yes', ...more });

/** An image of one file, for both architectures, in the place of slurmd. */
const tiny = (content: string): ImageBuild => ({
  repository: 'slurm-operator/slurmd',
  tag: '26.05',
  releaseTag: `26.05-${version}`,
  name: 'slurmd-26.05',
  async build(architecture) {
    const rootfs = await mkdtemp(join(directory, 'rootfs-'));
    await writeFile(join(rootfs, 'content'), `${content} ${architecture}`);
    const path = `${rootfs}.tar`;
    await writeImageTar({
      rootfs,
      tag: 'test/slurmd:1',
      config: { user: '1:1' },
      output: path,
      architecture,
    });
    return { path, sbom: '{}\n' };
  },
});

const release = (content: string, output: string, more: object = {}): Promise<Released> =>
  makeRelease(request(more), {
    repository,
    output: join(directory, output),
    credentials,
    images: [tiny(content)],
  });

const git = (...args: string[]) =>
  runCommand([
    'git',
    '-C',
    repository,
    '-c',
    'user.name=t',
    '-c',
    'user.email=t@example.com',
    '-c',
    'commit.gpgsign=false',
    ...args,
  ]);

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'release-'));
  repository = join(directory, 'repository');
  await mkdir(repository);
  await git('init', '--quiet');
  await writeFile(join(repository, 'CHANGELOG.md'), `# Changelog\n\n## ${version}\n\n- all of it\n`);
  await git('add', '.');
  await git('commit', '--quiet', '--message', 'Begin');
  registry = await startLocalRegistry({ login: true });
  const auth = Buffer.from(`${registryAccount.name}:${registryAccount.password}`).toString('base64');
  credentials = join(directory, 'auth.json');
  await writeFile(credentials, JSON.stringify({ auths: { [registry.address]: { auth } } }));
  skopeo = (await unpackTools({ packages: ['skopeo'] })).path('skopeo');
});

after(async () => {
  await registry[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

test('a release holds images, contents, charts, notes and checksums, and is published', async () => {
  const released = await release('one', 'a');
  assert.deepEqual((await readdir(released.directory)).toSorted(), [
    'charts',
    'checksums.txt',
    'images',
    'kubectl-slurm',
    'release-notes.md',
    'release.json',
    'sbom',
  ]);
  assert.deepEqual((await readdir(join(released.directory, 'charts'))).toSorted(), [
    'slurm-1.2.3.tgz',
    'slurm-operator-1.2.3.tgz',
    'slurm-operator-crds-1.2.3.tgz',
  ]);
  assert.deepEqual((await readdir(join(released.directory, 'sbom'))).toSorted(), [
    'slurmd-26.05-amd64.cdx.json',
    'slurmd-26.05-arm64.cdx.json',
  ]);
  assert.match(await readFile(join(released.directory, 'release-notes.md'), 'utf8'), /- all of it/);
  await runCommand(['sha256sum', '--check', '--strict', '--quiet', 'checksums.txt'], {
    cwd: released.directory,
  });

  const [image] = released.images;
  assert.ok(image);
  assert.deepEqual(Object.keys(image.platforms), ['amd64', 'arm64']);
  for (const tag of ['26.05', '26.05-1.2.3']) {
    const { stdout } = await runCommand([
      skopeo,
      'inspect',
      '--tls-verify=false',
      '--authfile',
      credentials,
      `docker://${registry.address}/hpc/slurm-operator/slurmd:${tag}`,
    ]);
    assert.equal((JSON.parse(stdout) as { Digest: string }).Digest, image.digest, tag);
  }
});

test('the published charts name images of the release by digest, and others as they are written', async () => {
  const { images } = await release('one', 'b');
  await using helm = await Helm.open();
  const from = `oci://${registry.address}/hpc/charts/slurm`;
  const plain = ['--plain-http', '--registry-config', credentials, '--version', version];
  const workers = async (values: object) => {
    const objects = await helm.template('slurm', from, { nodesets: { w: {} }, ...values }, plain);
    const [set] = objects.filter(({ kind }) => kind === 'NodeSet') as (Manifest & {
      spec: { slurmd: { image: string } };
    })[];
    return set?.spec.slurmd.image;
  };
  const own = `${registry.address}/hpc/slurm-operator/slurmd`;
  const set = (image: object) => ({ nodesetDefaults: { slurmd: { image } } });
  assert.equal(await workers({}), `${own}:26.05@${images[0]?.digest}`);
  assert.equal(await workers(set({ tag: '26.05-1.2.3' })), `${own}:26.05-1.2.3@${images[0]?.digest}`);
  assert.equal(await workers(set({ tag: '24.11' })), `${own}:24.11`, 'no image of this release');
  assert.equal(
    await workers(set({ repository: 'registry.example.com/slurmd', tag: '26.05' })),
    'registry.example.com/slurmd:26.05',
  );
  assert.equal(
    await workers({ registry: 'mirror.example.com' }),
    'mirror.example.com/slurm-operator/slurmd:26.05',
  );
});

test('the same sources give the same digests and charts, to the last byte', async () => {
  const [one, two] = [await release('one', 'c'), await release('one', 'd')];
  assert.deepEqual(two.images, one.images);
  assert.deepEqual(two.charts, one.charts);
  const sums = (released: Released) => readFile(join(released.directory, 'checksums.txt'), 'utf8');
  assert.equal(await sums(two), await sums(one));
  const other = await release('two', 'e', { PUSH: 'no' });
  assert.notEqual(other.images[0]?.digest, one.images[0]?.digest);
});

test('a published version is not overwritten', async () => {
  await assert.rejects(
    release('two', 'f'),
    /slurmd:26\.05-1\.2\.3 exists with another content .* choose another/,
  );
});

test('without credentials the registry’s refusal is the message', async () => {
  const pushing = makeRelease(request(), {
    repository,
    output: join(directory, 'g'),
    credentials: undefined,
    images: [tiny('one')],
  });
  await assert.rejects(pushing, /cannot be read: .*(unauthorized|authentication required)/);
});

test('credentials that are named must exist', async () => {
  await assert.rejects(
    credentialsFile({ REGISTRY_AUTH_FILE: '/nowhere' }),
    /REGISTRY_AUTH_FILE names \/nowhere/,
  );
});

test('a tree with changes, and a version without changes, are refused before anything is built', async () => {
  const never: ImageBuild = { ...tiny('x'), build: () => assert.fail('it was built') };
  const options = { repository, output: join(directory, 'h'), credentials, images: [never] };
  const missing = { VERSION: '9.9.9' };
  await assert.rejects(makeRelease(request(missing), options), /CHANGELOG\.md has no section "## 9\.9\.9"/);
  await writeFile(join(repository, 'new'), '');
  await assert.rejects(
    makeRelease(request(), options),
    /The tree has 1 uncommitted change \(new\): commit or stash/,
  );
  await rm(join(repository, 'new'));
});
