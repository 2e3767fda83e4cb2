import assert from 'node:assert/strict';
import { test } from 'node:test';
import { debianPackages } from './debian-packages.ts';

test('installed packages are listed, removed ones are not', () => {
  const status = `Package: zlib1g
Status: install ok installed
Architecture: arm64
Version: 1:1.3.dfsg-1
Description: compression
 Version: of the text, not of the package

Package: adduser
Status: install ok installed
Architecture: all
Version: 3.134

Package: gone
Status: deinstall ok config-files
Architecture: all
Version: 1
`;
  assert.deepEqual(debianPackages(status), [
    { name: 'adduser', version: '3.134', architecture: 'all' },
    { name: 'zlib1g', version: '1:1.3.dfsg-1', architecture: 'arm64' },
  ]);
});
