import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findHelm } from './find-helm.ts';

test('without Go it says so, and what to do; nothing half-built is taken for helm later', async () => {
  const cache = await mkdtemp(join(tmpdir(), 'no-helm-'));
  const before = process.env['XDG_CACHE_HOME'];
  process.env['XDG_CACHE_HOME'] = cache;
  try {
    for (const _ of [1, 2])
      await assert.rejects(findHelm({ go: 'no-such-go' }), /Go is missing.*install Go 1\.25 or later/);
  } finally {
    if (before === undefined) delete process.env['XDG_CACHE_HOME'];
    else process.env['XDG_CACHE_HOME'] = before;
    await rm(cache, { recursive: true });
  }
});
