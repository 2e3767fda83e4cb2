/** A worker that reads its files before they change and joins after that is never told: why slurmctld is made to tell twice. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Box, createSandbox, type Sandbox } from '@slurm-operator/sandbox';
import { dynamicWorker, SlurmBoxes, slurmConf } from '../testing/slurm-boxes.ts';
import { slurmVersions } from './slurm-version.ts';

const sandboxes: Sandbox[] = [];
after(async () => {
  for (const sandbox of sandboxes) await sandbox.stop(500);
});

/** slurmd that pauses after it has read its files until /tmp/go exists. */
const standstill = `/usr/libexec/slurm-operator/slurmd.bash "$@" & slurmd=$!
while [ ! -e /var/spool/slurmd/conf-cache ] && [ ! -e /run/slurm/conf ]; do :; done
pkill -STOP --exact slurmd
: >/tmp/still
while [ ! -e /tmp/go ]; do sleep 0.05; done
pkill -CONT --exact slurmd
wait $slurmd`;

for (const version of slurmVersions)
  test(`Slurm ${version}: who joins after a reconfigure with the files of before has them until the next one`, async () => {
    const sandbox = await createSandbox({ name: `late-${version.replace('.', '-')}-${process.pid}` });
    sandboxes.push(sandbox);
    const boxes = new SlurmBoxes(sandbox, await sandbox.addNetwork('lan'), version);
    const ctld = await boxes.controller();
    const early = await boxes.worker('early', ctld);
    const succeeds = async (box: Box, ...command: string[]) =>
      (await box.exec(command, { allowFailure: true })).exitCode === 0;
    const knowsOf = (box: Box) => succeeds(box, 'grep', '-q', 'Contain', '/run/slurm/conf/slurm.conf');
    const hasJoined = (box: Box) => succeeds(ctld, 'scontrol', 'show', 'node', box.name);
    const patience = { timeoutMs: 120_000 };
    // One may be quicker than the watch on it, on a machine that is busy: then it is no late one, and the next is.
    let late: Box | undefined;
    for (let n = 0; late === undefined; n += 1) {
      assert.ok(n < 6, 'not one slurmd was stopped before it joined');
      const box = await boxes.run('slurmd', `late-${n}`, {
        entrypoint: ['/bin/bash', '-c', standstill, 'bash'],
        args: ['--conf', 'CPUs=2 RealMemory=2000'],
        env: { SLURMD_OPTIONS: dynamicWorker },
        files: [boxes.key()],
      });
      await box.waitFor('slurmd to pause', () => succeeds(box, 'test', '-e', '/tmp/still'), patience);
      if (await hasJoined(box)) await box.kill();
      else late = box;
    }
    const worker = late;

    await ctld.writeFile({ path: '/etc/slurm/slurm.conf', content: `${slurmConf}PrologFlags=Contain\n` });
    await ctld.exec(['scontrol', 'reconfigure']);
    await early.waitFor('the news', () => knowsOf(early), patience);
    await worker.exec(['touch', '/tmp/go']);
    await ctld.waitFor('the late one to join', () => hasJoined(worker), patience);
    assert.equal(await knowsOf(worker), false, 'it is not notified');

    await ctld.exec(['scontrol', 'reconfigure']);
    await worker.waitFor('the second word', () => knowsOf(worker), patience);
  });
