import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from './process/run-command.ts';
import { unpackTools } from './unpack-tools.ts';

test("programs of the machine's own release run with libraries that the machine may lack", async () => {
  const tools = await unpackTools({ packages: ['runc', 'nftables', 'busybox-static', 'catatonit'] });
  assert.match((await runCommand([tools.path('runc'), '--version'])).stdout, /^runc version/);
  assert.match((await runCommand([tools.path('nft'), '--version'])).stdout, /^nftables v/);
  assert.match((await runCommand([tools.path('busybox'), 'echo', 'static'])).stdout, /^static/);
  assert.throws(() => tools.path('nothing'), /No program "nothing" .* there is: .*runc/);
});

test('programs of a newer release bring their own C library', async () => {
  const tools = await unpackTools({ suite: 'forky', packages: ['kubectl', 'runc'] });
  assert.match(
    (await runCommand([tools.path('kubectl'), 'version', '--client'])).stdout,
    /Client Version: v1\./,
  );
  // runc of forky asks for a C library that Debian 12 does not have.
  assert.match((await runCommand([tools.path('runc'), '--version'])).stdout, /^runc version/);
});

test('a package that does not exist is named, with the mirror', async () => {
  await assert.rejects(
    unpackTools({ packages: ['no-such-package-xyz'] }),
    /Debian \w+ from http\S+ cannot be used[^]*Unable to locate package no-such-package-xyz/,
  );
});
