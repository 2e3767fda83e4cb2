import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { waitUntil } from '../process/wait-until.ts';
import { watchGrowth } from './watch-growth.ts';

test('reports the size repeatedly until it is stopped', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'growth-'));
  const path = join(directory, 'large');
  const told: (readonly [number, number])[] = [];
  const missing = { path: join(directory, 'not-yet'), size: 50 };
  const growth = watchGrowth([{ path, size: 100 }, missing], (...one) => told.push(one), 5);
  try {
    await waitUntil('a beginning', () => told.some(([bytes]) => bytes === 0));
    await writeFile(path, 'x'.repeat(70));
    await waitUntil('bytes', () => told.some(([bytes]) => bytes === 70));
    assert.ok(told.every(([, total]) => total === 150));
  } finally {
    growth.stop();
    await rm(directory, { recursive: true });
  }
});
