import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImageDescription } from '@slurm-operator/sandbox';
import { ImageStore } from './image-store.ts';
import { loopbackSource, PullError } from './pull-image.ts';

const digest = `sha256:${'0'.repeat(64)}`;
const description = { id: digest, config: {} } as ImageDescription;

const sources: readonly [string, string | undefined][] = [
  ['localhost:5000/a/b:1', 'docker://localhost:5000/a/b:1'],
  ['127.0.0.1:5000/a:1', 'docker://127.0.0.1:5000/a:1'],
  [`localhost:5000/a/b:1@${digest}`, `docker://localhost:5000/a/b@${digest}`],
  [`localhost:5000/b@${digest}`, `docker://localhost:5000/b@${digest}`],
  ['registry.example.com/a:1', undefined],
  ['localhost.example.com/a:1', undefined],
  ['127.0.0.1.example.com/a:1', undefined],
];

for (const [name, source] of sources)
  test(`${name} is ${source === undefined ? 'not pulled' : `pulled from ${source}`}`, () => {
    assert.equal(loopbackSource(name), source);
  });

test('pods that want the same image at once share one pull, and later ones find it', async () => {
  const asked: string[] = [];
  const store = new ImageStore(async (source) => {
    asked.push(source);
    await Promise.resolve();
    return { description, rootfs: '/r' };
  });
  const name = `localhost:5000/a:1@${digest}`;
  const [first, second] = await Promise.all([store.pull(name), store.pull(name)]);
  assert.equal(first, second);
  assert.deepEqual(asked, [`docker://localhost:5000/a@${digest}`]);
  assert.equal(store.find(name)?.rootfs, '/r');
});

test('a refused pull is tried again by the next pod', async () => {
  let tries = 0;
  const store = new ImageStore(() => {
    tries += 1;
    return tries === 1
      ? Promise.reject(new PullError('manifest unknown'))
      : Promise.resolve({ description, rootfs: '/r' });
  });
  await assert.rejects(store.pull('localhost:5000/a:1'), /manifest unknown/);
  assert.equal((await store.pull('localhost:5000/a:1'))?.rootfs, '/r');
});

test('an image of another registry is never asked for', async () => {
  const store = new ImageStore(() => assert.fail('it was asked for'));
  assert.equal(await store.pull('registry.example.com/a:1'), undefined);
});
