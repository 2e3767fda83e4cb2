import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { lstat, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { cacheDirectory } from '../directories.ts';
import { runCommand } from '../process/run-command.ts';
import { contentKey } from '../publish-directory.ts';
import { writeRootFiles } from '../rootfs/root-files.ts';
import { readImageTar } from './read-image-tar.ts';
import { writeTar } from './tar-archive.ts';
import { unpackImage } from './unpack-image.ts';
import { writeImageTar } from './write-image-tar.ts';

let scratch = '';
const unpacked: string[] = [];
before(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'image-'));
});
after(async () => {
  await rm(scratch, { recursive: true });
  for (const path of unpacked) await rm(join(path, '..'), { recursive: true, force: true });
});

const config = { entrypoint: ['/bin/true'], env: { PATH: '/bin' }, user: '401:401' };

test('a directory becomes an image and a directory again: owners, modes and links are kept', async () => {
  const rootfs = join(scratch, 'root');
  await writeRootFiles(rootfs, [
    { path: '/etc/conf', content: 'x', mode: 0o640, uid: 401, gid: 402 },
    { path: '/tmp', directory: true, mode: 0o1777 },
    { path: '/bin', linkTo: 'usr/bin' },
  ]);
  const made = await writeImageTar({ rootfs, tag: 'test/a:1', config, output: join(scratch, 'a.tar') });
  const [image] = await readImageTar(made.path);
  assert.ok(image);
  assert.equal(image.id, made.id);
  assert.deepEqual(image.tags, ['test/a:1']);
  assert.deepEqual(image.config, config);
  const root = await unpackImage(image);
  unpacked.push(root);
  const file = await stat(join(root, 'etc/conf'));
  assert.deepEqual([file.uid, file.gid, file.mode & 0o7777], [401, 402, 0o640]);
  assert.equal((await stat(join(root, 'tmp'))).mode & 0o7777, 0o1777);
  assert.ok((await lstat(join(root, 'bin'))).isSymbolicLink());
});

test('the same files give the same bytes, whenever and in whatever order they were written', async () => {
  const hash = async (name: string, date: string, paths: readonly string[]) => {
    const rootfs = join(scratch, name);
    for (const path of paths) {
      await writeRootFiles(rootfs, [{ path, content: path }]);
      await runCommand(['touch', `--date=${date}`, join(rootfs, path)]);
    }
    const { path } = await writeImageTar({
      rootfs,
      tag: 'test/b:1',
      config,
      output: join(scratch, `${name}.tar`),
    });
    return createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
  };
  const first = await hash('b1', '2026-05-01', ['/a', '/d/b', '/d/c']);
  assert.equal(await hash('b2', '2026-06-01', ['/d/c', '/d/b', '/a']), first);
  assert.notEqual(await hash('b3', '2026-06-01', ['/d/c', '/d/b', '/x']), first);
});

/** An archive of several layers, each given as the files that one tar holds. */
async function layeredImage(
  layers: readonly (readonly string[])[],
  lastMembers: readonly string[] = ['.'],
): Promise<string> {
  for (const index of layers.keys())
    await rm(join(scratch, `layer${index}`), { recursive: true, force: true });
  const members = new Map<string, { bytes: Buffer } | { file: string }>();
  const digests: string[] = [];
  for (const [index, files] of layers.entries()) {
    const directory = join(scratch, `layer${index}`);
    await mkdir(directory);
    for (const file of files) {
      const [path = '', target] = file.split(' -> ');
      await mkdir(join(directory, path, '..'), { recursive: true });
      if (target === undefined) await writeFile(join(directory, path), `layer ${index}`);
      else await symlink(target, join(directory, path));
    }
    const tar = join(scratch, `layer${index}.tar`);
    await runCommand([
      'tar',
      '--create',
      '--file',
      tar,
      '--directory',
      directory,
      ...(index === layers.length - 1 ? lastMembers : ['.']),
    ]);
    digests.push(
      `sha256:${createHash('sha256')
        .update(await readFile(tar))
        .digest('hex')}`,
    );
    members.set(`${index}.tar`, { file: tar });
  }
  members.set('c.json', { bytes: Buffer.from(JSON.stringify({ rootfs: { diff_ids: digests } })) });
  const manifest = [
    { Config: 'c.json', RepoTags: ['test/c:1'], Layers: layers.map((_, index) => `${index}.tar`) },
  ];
  members.set('manifest.json', { bytes: Buffer.from(JSON.stringify(manifest)) });
  const path = join(scratch, 'layered.tar');
  await writeTar(path, members);
  return path;
}

test('layers lie on each other: files replaced, removed, directories emptied, links not followed out', async () => {
  const outside = join(scratch, 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'precious'), '');
  const path = await layeredImage([
    ['keep', 'replace', 'gone', 'dir/old', `trap -> ${outside}`],
    ['replace', '.wh.gone', 'dir/.wh..wh..opq', 'dir/new', 'trap/.wh.precious'],
  ]);
  const [image] = await readImageTar(path);
  assert.ok(image);
  const root = await unpackImage(image);
  unpacked.push(root);
  const exists = (name: string) =>
    lstat(join(root, name)).then(
      () => true,
      () => false,
    );
  assert.equal(await readFile(join(root, 'replace'), 'utf8'), 'layer 1');
  assert.deepEqual(await Promise.all(['keep', 'gone', 'dir/old', 'dir/new', '.wh.gone'].map(exists)), [
    true,
    false,
    false,
    true,
    false,
  ]);
  assert.equal(await lstat(join(outside, 'precious')).then(() => 'kept'), 'kept');
});

test('a layer that would write through a link of the one below out of the image is refused', async () => {
  const outside = join(scratch, 'elsewhere');
  await mkdir(outside);
  // The member `trap/file` without `trap/` itself: as a directory it would simply replace the link.
  const path = await layeredImage([[`trap -> ${outside}`], ['trap/file']], ['trap/file']);
  const [image] = await readImageTar(path);
  assert.ok(image);
  await assert.rejects(unpackImage(image), /a layer writes to trap, a link that leads out of the image/);
  await assert.rejects(stat(join(outside, 'file')));
});

test('a damaged layer is refused, and nothing is left in the cache', async () => {
  await rm(join(scratch, 'layer0'), { recursive: true, force: true });
  const rootfs = join(scratch, 'damaged');
  await writeRootFiles(rootfs, [{ path: '/file', content: 'a'.repeat(5000) }]);
  const { path } = await writeImageTar({ rootfs, tag: 'test/d:1', config, output: join(scratch, 'd.tar') });
  const bytes = await readFile(path);
  bytes[bytes.lastIndexOf('aaaa')] = 0x62;
  await writeFile(path, bytes);
  const [image] = await readImageTar(path);
  assert.ok(image);
  await assert.rejects(unpackImage(image), /a layer is damaged/);
  const key = contentKey(image.layers.map((layer) => layer.digest));
  await assert.rejects(stat(join(cacheDirectory(), 'images/unpacked', key)));
});
