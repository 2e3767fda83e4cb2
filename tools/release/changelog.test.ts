import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changelogSection } from './changelog.ts';

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
