/** What keeps a pending job alive after a scale-in, on real daemons of both releases. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '@slurm-operator/kube/testing';
import { startMiniSlurm } from '@slurm-operator/slurm/testing';
import { observed, slurmNode } from '../../../../testing/observed.ts';
import { PendingJobs } from '../../../slurm-connection/pending-jobs.ts';
import { keptRecords } from './kept-records.ts';

for (const version of ['26.05', '24.11'] as const)
  test(`Slurm ${version}: a pending job that needs a removed worker stays, over a restart of slurmctld, and runs on its successor`, async () => {
    const name = `kept-${version.replace('.', '')}-${process.pid}`;
    const slurm = await startMiniSlurm({ version, nodes: 0, name });
    try {
      const conf = (feature: string) => `CPUs=2 RealMemory=2000 Feature=${feature}`;
      for (const n of [0, 1, 2]) await slurm.addNode(`w-${n}`, conf('w'));
      await slurm.addNode('other-0', conf('other'));
      await slurm.waitForNodes(['w-0', 'w-1', 'w-2', 'other-0']);
      const client = slurm.client();
      const submit = async (...options: string[]) =>
        (
          await slurm.run(
            'sbatch',
            '--parsable',
            '-D/tmp',
            '-o/dev/null',
            '--hold',
            ...options,
            '--wrap',
            'true',
          )
        ).trim();
      const named = await submit('--nodelist=w-1');
      const feature = await submit('--constraint=w');
      const unneeded = await submit('--nodelist=other-0');
      const array = await submit('--array=1-3%2', '--nodelist=w-2');
      const needsNow = async () => {
        const needs = await new PendingJobs(client, () => Date.now()).needs(AbortSignal.timeout(60_000));
        assert.ok(needs.kind === 'known');
        return needs;
      };
      const ofArray = (await needsNow()).jobs.find(({ id }) => id === array);
      assert.deepEqual(ofArray?.nodes, ['w-2'], 'the tasks of an array that wait ask for it together');
      await slurm.run('scancel', array);
      const needs = await needsNow();

      // The scale-in: workers end, and their drained records are what could be deleted.
      for (const n of [1, 2, 0]) {
        await slurm.run(
          'scontrol',
          'update',
          `nodename=w-${n}`,
          'state=drain',
          'reason=slurm-operator: test',
        );
        await slurm.removeNode(`w-${n}`);
      }
      const drained = { flags: new Set(['DRAIN']), reason: 'slurm-operator: test', features: ['w'] };
      const records = [0, 1, 2].map((ordinal) => slurmNode(ordinal, drained));
      const kept = keptRecords(records, { ...observed([], records), pendingNeeds: needs });
      assert.deepEqual(
        kept.map((one) => [one.name, one.why, one.jobs]),
        [['w-1', 'name', [named]]],
      );
      for (const one of records)
        if (!kept.some((record) => record.name === one.name)) await client.nodes.delete(one.name);
      // The opposite: a record that a job names, and that is deleted.
      await slurm.run('scontrol', 'update', 'nodename=other-0', 'state=drain', 'reason=test');
      await slurm.removeNode('other-0');
      await client.nodes.delete('other-0');

      await slurm.controller.restart(20_000);
      const stateOf = async (id: string) => {
        const line = await slurm.run('scontrol', '--oneliner', 'show', 'job', id);
        return [/JobState=(\w+)/.exec(line)?.[1], /Reason=(\w+)/.exec(line)?.[1]];
      };
      await until('slurmctld is back', () => stateOf(named), { seconds: 60 });
      assert.deepEqual(await stateOf(named), ['PENDING', 'JobHeldUser']);
      assert.deepEqual(await stateOf(feature), ['PENDING', 'JobHeldUser']);
      assert.notEqual((await stateOf(unneeded))[0], 'PENDING', 'without its record Slurm ends a job');

      for (const id of [named, feature]) await slurm.run('scontrol', 'release', id);
      await slurm.addNode('w-1', conf('w'));
      await until('the successor has registered', async () => {
        const line = await slurm.run('scontrol', '--oneliner', 'show', 'node', 'w-1');
        return /SlurmdStartTime=\d/.test(line) && !/NOT_RESPONDING|State=DOWN/.test(line);
      });
      await slurm.run('scontrol', 'update', 'nodename=w-1', 'state=undrain');
      for (const id of [named, feature])
        await until(`job ${id} runs`, async () => (await stateOf(id))[0] === 'COMPLETED');
    } finally {
      await slurm.stop();
    }
  });
