/** What slurmctld's container does before its SIGTERM: its hook, with a stub in place of scontrol. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runCommand } from '@slurm-operator/sandbox';
import { awaitStarted } from './stateful-set.ts';

const made: string[] = [];
after(async () => {
  for (const directory of made) await rm(directory, { recursive: true });
});

/** How often the hook asks; `responds` is the line of this slurmctld from then on. */
async function asks(responds: string, from: number): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'pre-stop-'));
  made.push(directory);
  const log = join(directory, 'log');
  const stub = `#!/bin/bash
echo ping >>${log}
echo "Slurmctld(primary) at main-controller-1 is UP"
if [ "$(wc -l <${log})" -ge ${from} ]; then echo "${responds}"; else exit 1; fi
`;
  await writeFile(join(directory, 'scontrol'), stub, { mode: 0o755 });
  const env = { PATH: `${directory}:${process.env['PATH'] ?? ''}`, HOSTNAME: 'main-controller-0' };
  await runCommand(['/bin/bash', '-c', `HOSTNAME=main-controller-0\n${awaitStarted}`], { env });
  return (await readFile(log, 'utf8')).split('\n').length - 1;
}

test('the SIGTERM of a slurmctld that is starting waits until that one responds, not its standby', async () => {
  assert.equal(await asks('Slurmctld(backup) at main-controller-0 is UP', 4), 4);
});

test('one that responds is ended at once', async () => {
  assert.equal(await asks('Slurmctld(primary) at main-controller-0 is UP', 1), 1);
});
