import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { abandonedScratch, scratchDirectory } from './directories.ts';
import { runCommand } from './process/run-command.ts';

const before = process.env['TMPDIR'];
const ours = scratchDirectory('scratch-test');
process.env['TMPDIR'] = ours;
after(() => {
  if (before === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = before;
  rmSync(ours, { recursive: true });
});

test('what a program that has ended left is found; what is in use, and what others call alike, is not', async () => {
  scratchDirectory('stage');
  for (const name of ['slurm-operator-clone', 'slurm-operator-4711', 'slurm-operator-stage-x-abcdef'])
    mkdirSync(join(ours, name));
  assert.deepEqual(abandonedScratch(), []);
  const module = JSON.stringify(import.meta.resolve('./directories.ts'));
  const script = `import(${module}).then((it) => console.log(it.scratchDirectory('helm-stage')))`;
  const { stdout } = await runCommand([process.execPath, '--eval', script], { env: process.env });
  assert.deepEqual(abandonedScratch(), [stdout.trim()]);
});
