import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePrintUris } from './print-uris.ts';

test('reads names, versions with epochs, sizes and hashes, and leaves the chatter out', () => {
  const output = `Reading package lists...
The following NEW packages will be installed:
  zlib1g libc6
'http://mirror.example/debian/pool/main/z/zlib/zlib1g_1%3a1.3.1-2_amd64.deb' zlib1g_1%3a1.3.1-2_amd64.deb 88808 SHA256:ab
'http://mirror.example/debian/pool/main/g/glibc/libc6_2.42-1+b1_amd64.deb' libc6_2.42-1+b1_amd64.deb 2900000 SHA256:cd
`;
  assert.deepEqual(parsePrintUris(output), [
    {
      name: 'libc6',
      version: '2.42-1+b1',
      architecture: 'amd64',
      file: 'libc6_2.42-1+b1_amd64.deb',
      size: 2900000,
      hash: 'SHA256:cd',
    },
    {
      name: 'zlib1g',
      version: '1:1.3.1-2',
      architecture: 'amd64',
      file: 'zlib1g_1%3a1.3.1-2_amd64.deb',
      size: 88808,
      hash: 'SHA256:ab',
    },
  ]);
});
