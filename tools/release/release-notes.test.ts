import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changelogSection, digestsFile, type Release, releaseNotes } from './release-notes.ts';

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

const changelog = `# Changelog

## Unreleased

### Added
- next

## [0.2.0] - 2026-02-01

### Fixed
- second

## 0.1.0

## 0.0.9
- first
`;

test('the section of a version ends where the next begins', () => {
  assert.equal(changelogSection(changelog, '0.2.0'), '### Fixed\n- second');
  assert.equal(changelogSection(changelog, '0.0.9'), '- first');
});

test('a pre-release without a section has the unreleased changes', () => {
  assert.equal(changelogSection(changelog, '0.3.0-rc.1'), '### Added\n- next');
});

test('a version without a section is refused', () => {
  assert.throws(() => changelogSection(changelog, '0.3.0'), {
    name: 'ReleaseError',
    message: 'CHANGELOG.md has no section "## 0.3.0": rename "## Unreleased" to it, and commit.',
  });
  assert.throws(() => changelogSection('# Changelog\n', '0.3.0-rc.1'), /no section "## 0\.3\.0-rc\.1"/);
});

test('an empty section is refused', () => {
  assert.throws(() => changelogSection(changelog, '0.1.0'), /section "## 0\.1\.0" of CHANGELOG\.md is empty/);
});

test('a version is not found as part of another', () => {
  assert.throws(() => changelogSection('## 1.0.0-rc.1\n- x\n', '1.0.0'), /no section/);
});
