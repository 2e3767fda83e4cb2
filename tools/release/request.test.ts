import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReleaseError, readRequest } from './request.ts';

const good = { VERSION: '1.2.3', REGISTRY: 'registry.example.com/hpc' };

test('a release names version, registry and both architectures', () => {
  assert.deepEqual(readRequest(good), {
    version: '1.2.3',
    registry: 'registry.example.com/hpc',
    architectures: ['amd64', 'arm64'],
    push: false,
    downloads: 'https://downloads.invalid/slurm-operator/1.2.3',
    loopback: false,
  });
});

test('architectures, pushing and a slash at the end of the registry', () => {
  const request = readRequest({ ...good, REGISTRY: 'localhost:5000/', ARCH: 'amd64', PUSH: 'yes' });
  assert.deepEqual(request, {
    version: '1.2.3',
    registry: 'localhost:5000',
    architectures: ['amd64'],
    push: true,
    downloads: 'https://downloads.invalid/slurm-operator/1.2.3',
    loopback: true,
  });
  assert.equal(readRequest({ ...good, REGISTRY: '127.0.0.1:5000/a' }).loopback, true);
  assert.equal(readRequest({ ...good, REGISTRY: '127.0.0.1.example.com' }).loopback, false);
});

for (const VERSION of ['0.0.1', '1.2.3-rc.1', '10.20.30-alpha'])
  test(`version ${VERSION} is accepted`, () => {
    assert.equal(readRequest({ ...good, VERSION }).version, VERSION);
  });

const refused: readonly [string, Record<string, string | undefined>, RegExp][] = [
  ['no version', { VERSION: undefined }, /^VERSION is not set: run make release/],
  ['a version with v', { VERSION: 'v1.2.3' }, /^VERSION is "v1\.2\.3": write it as a semantic version/],
  ['a version of two parts', { VERSION: '1.2' }, /semantic version/],
  ['leading zeros', { VERSION: '1.02.3' }, /semantic version/],
  ['build metadata', { VERSION: '1.2.3+abc' }, /semantic version/],
  ['a version that is a path', { VERSION: '../../etc' }, /semantic version/],
  ['downloads without TLS', { DOWNLOADS: 'http://x' }, /^DOWNLOADS is "http:\/\/x": write an address/],
  ['no registry', { REGISTRY: '' }, /^REGISTRY is not set/],
  [
    'a registry with a scheme',
    { REGISTRY: 'https://registry.example.com/hpc' },
    /^REGISTRY begins with "https:\/\/": leave it out, such as REGISTRY=registry\.example\.com\/hpc\.$/,
  ],
  ['a scheme of helm', { REGISTRY: 'oci://registry.example.com' }, /begins with "oci:\/\/"/],
  ['a path without a host', { REGISTRY: 'hpc/slurm' }, /"hpc", which is no host/],
  ['capital letters in the path', { REGISTRY: 'registry.example.com/HPC' }, /"HPC" in its path/],
  ['a space', { REGISTRY: 'registry.example.com /x' }, /which is no host/],
  ['an option', { REGISTRY: '--tls-verify=false' }, /which is no host/],
  ['an unknown architecture', { ARCH: 'amd64,riscv64' }, /ARCH names "riscv64"/],
  ['an unknown answer', { PUSH: 'maybe' }, /PUSH is "maybe"/],
];

for (const [what, change, message] of refused)
  test(`${what} is refused in one sentence`, () => {
    assert.throws(
      () => readRequest({ ...good, ...change }),
      (error: unknown) => {
        assert.ok(error instanceof ReleaseError);
        assert.match(error.message, message);
        assert.match(error.message, /\.$/);
        assert.doesNotMatch(error.message, /\n/);
        return true;
      },
    );
  });
