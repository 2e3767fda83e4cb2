/** The example, as a user would run it, on real Slurm of both releases. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { startMiniSlurm } from '../testing/mini-slurm.ts';

for (const version of ['26.05', '24.11'] as const) {
  test(`a job on Slurm ${version} is submitted, followed and its end printed`, async () => {
    await using mini = await startMiniSlurm({ version, nodes: 1 });
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(import.meta.dirname, 'follow-a-job.ts')],
      {
        env: { ...process.env, SLURM_SERVER: mini.server, SLURM_JWT: mini.token() },
        timeout: 240_000,
      },
    );
    const lines = stdout.trim().split('\n');
    assert.match(
      lines[0] ?? '',
      new RegExp(`^submitted job 1 to mini \\(Slurm ${version.replace('.', '\\.')}`),
    );
    assert.ok(lines.includes('job 1 is RUNNING'), stdout);
    assert.equal(lines.at(-1), 'job 1 ended FAILED with code 7 on n0');
  });
}
