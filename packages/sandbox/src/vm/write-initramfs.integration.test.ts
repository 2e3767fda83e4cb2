import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { writeInitramfs } from './write-initramfs.ts';

const scratch = mkdtempSync(join(tmpdir(), 'initramfs-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

interface Entry {
  readonly name: string;
  readonly mode: string;
  readonly device: readonly [number, number];
  readonly content: string;
}

/** Reads an archive as the kernel does: fixed headers, everything at multiples of four bytes. */
function entriesOf(archive: Buffer): Entry[] {
  const entries: Entry[] = [];
  const aligned = (offset: number) => Math.ceil(offset / 4) * 4;
  for (let offset = 0; offset < archive.length; ) {
    const header = archive.toString('latin1', offset, offset + 110);
    assert.equal(header.slice(0, 6), '070701', `a header at byte ${offset}`);
    const field = (index: number) => Number.parseInt(header.slice(6 + index * 8, 14 + index * 8), 16);
    const [mode, size, nameSize] = [field(1), field(6), field(11)];
    const name = archive.toString('utf8', offset + 110, offset + 110 + nameSize - 1);
    const start = aligned(offset + 110 + nameSize);
    const content = archive.toString('utf8', start, start + size);
    entries.push({ name, mode: mode.toString(8), device: [field(9), field(10)], content });
    offset = aligned(start + size);
  }
  return entries;
}

test('an initramfs holds trees in their places, links, modes, a console and an end', async () => {
  const tree = join(scratch, 'tree');
  mkdirSync(join(tree, 'bin'), { recursive: true });
  writeFileSync(join(tree, 'bin/tool'), 'abcde', { mode: 0o750 });
  symlinkSync('tool', join(tree, 'bin/alias'));
  const output = join(scratch, 'initramfs');
  await writeInitramfs({
    output,
    trees: [
      { source: tree, target: '/' },
      { source: tree, target: '/images/one' },
    ],
    files: [{ path: '/init', content: '#!/bin/sh\n', mode: 0o755 }],
  });
  const entries = entriesOf(readFileSync(output));
  const find = (name: string) => entries.find((entry) => entry.name === name);
  assert.equal(find('bin/tool')?.content, 'abcde');
  assert.equal(find('bin/tool')?.mode, '100750');
  assert.equal(find('bin/alias')?.mode.slice(0, 3), '120');
  assert.equal(find('bin/alias')?.content, 'tool');
  assert.equal(find('images/one/bin/tool')?.content, 'abcde');
  assert.equal(find('init')?.mode, '100755');
  assert.deepEqual(find('dev/console')?.device, [5, 1]);
  assert.equal(entries.at(-1)?.name, 'TRAILER!!!');
  const names = entries.map(({ name }) => name);
  assert.ok(names.indexOf('images') < names.indexOf('images/one'), 'a directory comes before what is in it');
  assert.equal(new Set(names).size, names.length, 'no directory comes twice');
});
