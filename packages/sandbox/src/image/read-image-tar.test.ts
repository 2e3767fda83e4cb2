import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ImageError } from '../errors.ts';
import { readImageTar } from './read-image-tar.ts';
import { writeTar } from './tar-archive.ts';

let path = '';
before(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'read-image-')), 'image.tar');
});
after(() => rm(join(path, '..'), { recursive: true }));

async function archive(members: Record<string, unknown>): Promise<string> {
  const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  await writeTar(
    path,
    new Map(Object.entries(members).map(([name, value]) => [name, { bytes: bytes(value) }])),
  );
  return path;
}

const manifest = [{ Config: 'c.json', RepoTags: ['a/b:1'], Layers: ['l.tar'] }];

test('reads tags, configuration and layers', async () => {
  const config = {
    config: {
      Entrypoint: ['/run'],
      Cmd: null,
      Env: ['PATH=/bin', 'OPTIONS=a=b'],
      User: '401:401',
      ExposedPorts: { '6817/tcp': {} },
    },
    rootfs: { diff_ids: ['sha256:ab'] },
  };
  const [image] = await readImageTar(
    await archive({ 'c.json': config, 'l.tar': 'xyz', 'manifest.json': manifest }),
  );
  assert.deepEqual(image?.tags, ['a/b:1']);
  assert.deepEqual(image.config, {
    entrypoint: ['/run'],
    env: { PATH: '/bin', OPTIONS: 'a=b' },
    user: '401:401',
    ports: ['6817/tcp'],
  });
  assert.match(image.id, /^sha256:[0-9a-f]{64}$/);
  assert.deepEqual(
    image.layers.map(({ digest, size }) => ({ digest, size })),
    [{ digest: 'sha256:ab', size: 3 }],
  );
});

test('says what is wrong, and with which file', async () => {
  const one = { rootfs: { diff_ids: ['sha256:ab'] } };
  for (const [members, reason] of [
    [{ 'some.txt': 'x' }, /lacks manifest\.json, so it is no image archive: make one with "docker save"/],
    [{ 'manifest.json': '{' }, /its manifest\.json is not JSON/],
    [{ 'manifest.json': [] }, /lists no image/],
    [{ 'manifest.json': [{}] }, /names no Config and Layers/],
    [{ 'manifest.json': manifest }, /lacks c\.json, the configuration/],
    [{ 'manifest.json': manifest, 'c.json': one }, /lacks l\.tar, a layer/],
    [{ 'manifest.json': manifest, 'c.json': {}, 'l.tar': '' }, /has 1 layers, its configuration lists 0/],
  ] as const)
    await assert.rejects(readImageTar(await archive(members)), (error) => {
      assert.ok(error instanceof ImageError);
      assert.match(error.message, reason);
      assert.ok(error.message.includes(path));
      return true;
    });
  await assert.rejects(readImageTar('/nowhere.tar'), /Image archive \/nowhere\.tar: it cannot be opened/);
});
