/** The side container of slurmctld beside real daemons: while jobs start all the time, none starts around a reconfigure. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitUntil } from '@slurm-operator/sandbox';
import { startMiniSlurm } from '@slurm-operator/slurm/testing';
import { aController, operatorDefaults } from '../../../../testing/objects.ts';
import { recordsFile, versionFile } from '../../../slurm-config/render/config-map.ts';
import { approvedFile, reconfigureContainer } from './reconfigure.ts';

const rounds = 3;
const log = '/cluster/state/slurmctld.log';
const submissions = `cd /
while [ ! -e /cluster/state/enough ]; do
  sbatch --quiet --output=/dev/null --no-requeue --wrap=true
  sbatch --quiet --output=/dev/null --array=1-2 --wrap=true
  sbatch --quiet --output=/dev/null --mem=10 : --mem=10 --wrap=true
  sleep 0.5
done`;

for (const version of ['26.05', '24.11'] as const)
  test(`Slurm ${version}: no job starts between the pause and the reconfigure, and every one ends`, async () => {
    await using mini = await startMiniSlurm({
      version,
      nodes: 2,
      configuration: [`SlurmctldLogFile=${log}`, 'LogTimeFormat=iso8601_ms'],
    });
    const inBox = async (script: string, ...values: string[]) =>
      (
        await mini.controller.exec(['bash', '-c', script, 'bash', ...values], {
          user: 'slurm',
          timeoutMs: 60_000,
        })
      ).stdout.trim();
    const background = 'printf %s "$2" >"$1"; setsid bash "$1" >"$1.log" 2>&1 </dev/null &';
    const configure = (name: string) =>
      inBox(
        `printf %s "$1" >/etc/slurm/${approvedFile}; printf %s "$1" >/etc/slurm/${versionFile}; : >/etc/slurm/${recordsFile}`,
        name,
      );
    const { command } = reconfigureContainer({
      controller: aController({ slurmctld: { image: `slurmctld:${version}` } }),
      defaults: operatorDefaults,
      state: { name: 'statesave', mountPath: '/cluster/state' },
    });
    await inBox('echo 0 >/cluster/state/.config-told');
    await configure('0');
    await inBox(background, '/cluster/state/reconfigure', command?.at(-1) ?? '');
    await inBox(background, '/cluster/state/submissions', submissions);
    const started = async () => Number(await inBox(`grep -cE '(Allocate|Started) JobId' ${log} || true`));
    for (let round = 1; round <= rounds; round += 1) {
      const before = await started();
      await waitUntil('jobs to start', async () => (await started()) > before, {
        timeoutMs: 60_000,
        intervalMs: 100,
      });
      await configure(`${round}`);
      await waitUntil(
        `configuration ${round} to be told`,
        async () => (await inBox('cat /cluster/state/.config-told')) === `${round}`,
        { timeoutMs: 60_000, intervalMs: 100 },
      );
    }
    await inBox('touch /cluster/state/enough');
    await waitUntil('every job to end', async () => (await inBox('squeue --noheader')) === '', {
      timeoutMs: 120_000,
      intervalMs: 500,
    });
    const seen = await inBox(
      `grep -oE 'Created reservation|(Allocate|Started) JobId|Reconfigure signal' ${log} | cut -d' ' -f1`,
    );
    const order = seen.split('\n').filter((each, index, all) => each !== all[index - 1]);
    const told = order.flatMap((each, index) => (each === 'Reconfigure' ? [order[index - 1]] : []));
    assert.ok(told.length >= rounds, seen);
    assert.deepEqual(new Set(told), new Set(['Created']));
    assert.ok(order.filter((each) => each === 'Allocate' || each === 'Started').length > 2, seen);
    assert.equal(await inBox('scontrol -o show reservation'), 'No reservations in the system');
  });
