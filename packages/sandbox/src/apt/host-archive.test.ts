import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { type HostArchive, hostArchive } from './host-archive.ts';

async function archiveOf(files: Readonly<Record<string, string>>): Promise<HostArchive> {
  const etc = await mkdtemp(join(tmpdir(), 'host-archive-'));
  try {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(etc, path)), { recursive: true });
      await writeFile(join(etc, path), content);
    }
    return await hostArchive(etc);
  } finally {
    await rm(etc, { recursive: true });
  }
}

const debian = { 'os-release': 'NAME="Debian GNU/Linux"\nVERSION_CODENAME=bookworm\nID=debian\n' };

test('finds the archive in either format, past other vendors and disabled files', async () => {
  const oneLine = await archiveOf({
    ...debian,
    'apt/sources.list': 'deb http://mirror.example/debian bookworm main\n',
    'apt/sources.list.d/vendor.list': 'deb https://vendor.example/apt bookworm main\n',
  });
  assert.deepEqual([oneLine.uri, oneLine.codename], ['http://mirror.example/debian', 'bookworm']);
  const deb822 = await archiveOf({
    ...debian,
    'apt/sources.list.d/debian.sources':
      'Types: deb\nURIs: http://other.example/debian\nSuites: bookworm\nComponents: main\nSigned-By: /k.gpg\n',
    'apt/sources.list.d/old.sources.disabled':
      'Types: deb\nURIs: http://off.example/debian\nSuites: bookworm\n',
  });
  assert.deepEqual([deb822.uri, deb822.signedBy], ['http://other.example/debian', ['/k.gpg']]);
});

test('says what is missing', async () => {
  await assert.rejects(archiveOf({}), /does not run Debian/);
  await assert.rejects(
    archiveOf({ 'os-release': 'ID=ubuntu\nVERSION_CODENAME=noble\n' }),
    /does not run Debian/,
  );
  await assert.rejects(
    archiveOf(debian),
    /No source in .*apt serves bookworm main: add a Debian mirror there/,
  );
});
