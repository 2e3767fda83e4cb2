import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '@slurm-operator/sandbox';
import { parse } from 'yaml';
import { krewManifest, packagePlugin } from './package-plugin.ts';

test('the archive runs, the manifest names it by its digest, and the same sources give the same bytes', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'plugin-'));
  try {
    const options = { version: '1.2.3-rc.1', downloads: 'https://example.org/1.2.3-rc.1' };
    const { file, sha256 } = await packagePlugin(join(directory, 'a'), options);
    assert.equal((await packagePlugin(join(directory, 'b'), options)).sha256, sha256);
    const archive = await readFile(join(directory, 'a', file));
    assert.equal(createHash('sha256').update(archive).digest('hex'), sha256);
    const manifest = parse(await readFile(join(directory, 'a/slurm.yaml'), 'utf8')) as ReturnType<
      typeof krewManifest
    >;
    assert.equal(manifest.spec.platforms[0]?.sha256, sha256);
    assert.equal(manifest.spec.platforms[0]?.uri, `https://example.org/1.2.3-rc.1/${file}`);
    // As krew does: unpack, then take what `files` names.
    await runCommand(['tar', '-xzf', join(directory, 'a', file), '-C', directory]);
    for (const { from } of manifest.spec.platforms[0]?.files ?? []) await readFile(join(directory, from));
    const { stdout } = await runCommand([
      process.execPath,
      join(directory, 'kubectl-slurm'),
      'version',
      '--client',
    ]);
    assert.match(stdout, /plugin +1\.2\.3-rc\.1/);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test('the manifest is what krew accepts', () => {
  const { metadata, spec } = krewManifest({ version: '1.2.3', uri: 'https://x/y', sha256: 'a'.repeat(64) });
  assert.match(metadata.name, /^[\w-]+$/);
  assert.match(spec.version, /^v\d+\.\d+\.\d+/);
  assert.ok(spec.shortDescription.length <= 50 && !spec.shortDescription.endsWith('.'));
});
