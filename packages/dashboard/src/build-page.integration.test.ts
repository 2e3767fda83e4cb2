/** The bundle: it is built from the sources, loads nothing from elsewhere, and stays small. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildPage } from './build-page.ts';

test('the page is one script of at most 60 kB (gzip), and names no other host', async () => {
  const directory = await mkdtemp(join(tmpdir(), `dashboard-build-${process.pid}-`));
  try {
    const { javascriptGzipBytes } = await buildPage(directory);
    assert.ok(javascriptGzipBytes > 5_000 && javascriptGzipBytes <= 60_000, `${javascriptGzipBytes} bytes`);
    const [script, html] = await Promise.all(
      ['main.js', 'index.html'].map((name) => readFile(join(directory, name), 'utf8')),
    );
    assert.match(html ?? '', /<script type="module" src="\/main.js"><\/script>/);
    // Names of XML namespaces are no addresses.
    const hosts = [...(script ?? '').matchAll(/https?:\/\/[\w.-]+/g)].map(([host]) => host);
    assert.deepEqual(
      hosts.filter((host) => host !== 'http://www.w3.org'),
      [],
    );
    assert.doesNotMatch(script ?? '', /['"]node:[a-z]/, 'nothing of the server is in it');
    assert.doesNotMatch(
      html ?? '',
      /<style|style=|onclick|<script>/,
      'nothing inline: the policy forbids it',
    );
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
