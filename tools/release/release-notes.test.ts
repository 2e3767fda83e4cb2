import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestsFile, type Release, releaseNotes } from './release-notes.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const release: Release = {
  version: '1.2.3',
  commit: 'c0ffee',
  registry: 'registry.example.com/hpc',
  images: [
    { repository: 'slurm-operator/operator', tag: '1.2.3', releaseTag: '1.2.3', digest, platforms: {} },
    { repository: 'slurm-operator/slurmd', tag: '26.05', releaseTag: '26.05-1.2.3', digest, platforms: {} },
  ],
  plugin: { file: 'kubectl-slurm-1.2.3.tar.gz', sha256: 'c'.repeat(64) },
  charts: [{ name: 'slurm', file: 'slurm-1.2.3.tgz', sha256: 'b'.repeat(64) }],
};

test('charts find digests by repository and each tag of it', () => {
  assert.deepEqual(JSON.parse(digestsFile(release.registry, release.images)), {
    registry: 'registry.example.com/hpc',
    digests: {
      'slurm-operator/operator:1.2.3': digest,
      'slurm-operator/slurmd:26.05': digest,
      'slurm-operator/slurmd:26.05-1.2.3': digest,
    },
  });
});

test('the notes hold commands, changes, digests and checksums', () => {
  const notes = releaseNotes(release, '### Fixed\n- a fault', { architectures: ['amd64', 'arm64'] });
  assert.match(
    notes,
    /helm install slurm oci:\/\/registry\.example\.com\/hpc\/charts\/slurm --version 1\.2\.3/,
  );
  assert.match(notes, /### Fixed\n- a fault/);
  assert.match(notes, /\| `registry\.example\.com\/hpc\/slurm-operator\/slurmd:26\.05` \| `sha256:a{64}` \|/);
  assert.match(notes, /For amd64 and arm64\./);
  assert.match(notes, /\| `slurm-1\.2\.3\.tgz` \| `b{64}` \|/);
  assert.match(notes, /commit c0ffee/);
});
