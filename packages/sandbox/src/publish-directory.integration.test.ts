import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { replaceFile } from './publish-directory.ts';

let directory = '';
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'replace-file-'));
});
after(() => rm(directory, { recursive: true }));

test('the same content leaves the file as it is', async () => {
  const path = join(directory, 'same');
  await replaceFile(path, 'one');
  const first = await stat(path);
  await replaceFile(path, 'one');
  const later = await stat(path);
  assert.deepEqual([later.ino, later.mtimeMs], [first.ino, first.mtimeMs]);
});

test('while several write, a reader sees one of their texts, whole', async () => {
  const path = join(directory, 'contended');
  const texts = ['a', 'b', 'c'].map((letter) => letter.repeat(300_000));
  await replaceFile(path, texts[0] ?? '');
  const done = new AbortController();
  const writers = Promise.all(
    texts.map(async (text) => {
      for (let round = 0; round < 30; round++) await replaceFile(path, text);
    }),
  ).finally(() => done.abort());
  let looks = 0;
  for (; !done.signal.aborted; looks++)
    assert.ok(texts.includes(await readFile(path, 'utf8')), 'a part of a file');
  await writers;
  assert.ok(looks > 3);
  assert.deepEqual((await readdir(directory)).toSorted(), ['contended', 'same'], 'no draft is left');
});
