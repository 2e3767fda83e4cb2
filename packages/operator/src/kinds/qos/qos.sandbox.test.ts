/** QualityOfService with real slurmctld, slurmdbd and MariaDB: what sacctmgr shows, limits of waiting jobs, deletion under jobs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { QualityOfService } from '@slurm-operator/api';
import { until } from '@slurm-operator/kube/testing';
import { type MiniSlurm, startMiniSlurm } from '@slurm-operator/slurm/testing';
import { parse } from 'yaml';
import { RowStage } from '../../../testing/row-stage.ts';
import { qualitiesOfService } from '../../cache/resources.ts';

const page = readFileSync(join(import.meta.dirname, '../../../../../docs/how-to/qos.md'), 'utf8');
/** The example of the how-to page. */
const example = parse(/```yaml\n(.*?)```/s.exec(page)?.[1] ?? '') as { spec: object };

for (const release of ['26.05', '24.11'] as const)
  describe(`QualityOfService on Slurm ${release}`, () => {
    let mini: MiniSlurm;
    let stage: RowStage<QualityOfService>;
    before(async () => {
      mini = await startMiniSlurm({
        version: release,
        nodes: 1,
        accounting: true,
        configuration: ['AccountingStorageEnforce=associations,limits,qos'],
      });
      stage = await RowStage.open(
        { server: mini.server, jwtKey: mini.jwtKey, client: () => mini.client() },
        qualitiesOfService,
      );
    });
    after(async () => {
      await stage[Symbol.asyncDispose]();
      await mini.stop();
    });

    const shown = async (name: string, fields: string): Promise<string> =>
      (await mini.run('sacctmgr', '-nP', 'show', 'qos', name, `format=${fields}`)).trim();
    const submit = async (qos: string): Promise<number> => {
      const job = ['sbatch', '--parsable', `--qos=${qos}`, '--mem=10', '-D', '/tmp', '--wrap', 'sleep 600'];
      return Number((await mini.run(...job)).trim());
    };
    const jobSays = (id: number, expected: RegExp) =>
      until(`job ${id} to be ${expected}`, async () =>
        expected.test(await mini.run('squeue', '-h', '-j', String(id), '-o', '%T %r')),
      );

    test('the example of the how-to page is what sacctmgr shows', async () => {
      await stage.create('high', { ...example.spec, accountingRef: { name: 'slurm' } });
      await stage.ready('high');
      const fields = 'Name,Descr,Priority,Flags,MaxJobsPU,MaxTRESPU,MaxWall';
      assert.equal(await shown('high', fields), 'high|urgent work|1000|DenyOnLimit|10|cpu=64|1-00:00:00');
      await stage.edit('high', { flags: null, limits: null, priority: 5 });
      await stage.ready('high');
      assert.equal(await shown('high', fields), 'high|urgent work|5||||');
    });

    test('every leaf that was set, changed and removed equals a fresh apply', async () => {
      const share = { jobs: 1, submit: 2, accruing: 3, tres: { cpu: 4, mem: 5 }, tresRunMinutes: { cpu: 6 } };
      const full = {
        description: 'full',
        priority: 7,
        flags: ['NoDecay', 'DenyOnLimit'],
        preemptMode: 'Requeue',
        preemptExemptTime: '90s',
        graceTime: '2m',
        usageFactor: '0.5',
        usageThreshold: '0.25',
        limitFactor: '2',
        limits: {
          group: { ...share, tresMinutes: { cpu: 8 }, wall: '100h' },
          perUser: share,
          perAccount: share,
          perJob: {
            tres: { cpu: 9 },
            tresPerNode: { cpu: 2 },
            tresMinutes: { cpu: 11 },
            minTres: { cpu: 1 },
            wall: '90m',
          },
          minPriority: 12,
        },
      };
      const cleared = Object.fromEntries(Object.keys(full).map((field) => [field, null]));
      await stage.create('leaves', full);
      await stage.ready('leaves');
      const leaves =
        'Descr,Priority,Flags,Preempt,PreemptMode,PreemptExemptTime,GraceTime,UsageFactor,UsageThreshold,LimitFactor,GrpJobs,GrpJobsAccrue,GrpSubmit,GrpTRES,GrpTRESMins,GrpTRESRunMins,GrpWall,MaxJobsPU,MaxJobsAccruePU,MaxSubmitPU,MaxTRESPU,MaxTRESRunMinsPU,MaxJobsPA,MaxJobsAccruePA,MaxSubmitPA,MaxTRESPA,MaxTRESRunMinsPA,MaxTRES,MaxTRESPerNode,MaxTRESMins,MaxWall,MinTRES,MinPrioThreshold';
      const rowOf = (name: string) => shown(name, leaves);
      await stage.create('fresh-full', full);
      await stage.ready('fresh-full');
      assert.match(await rowOf('leaves'), /full\|7\|.*NoDecay.*cpu=4.*cpu=8.*cpu=9.*cpu=11/);
      assert.equal(await rowOf('leaves'), await rowOf('fresh-full'));
      await stage.edit('leaves', { ...cleared, priority: 3 });
      await stage.ready('leaves');
      await stage.create('fresh', { priority: 3 });
      await stage.ready('fresh');
      assert.match(await rowOf('leaves'), /^[^|]*\|3\|/);
      assert.equal(await rowOf('leaves'), await rowOf('fresh'));
    });

    test('a job over a limit waits with its reason, and starts when the limit is raised', async () => {
      await mini.run('sacctmgr', '-i', 'add', 'account', 'people');
      await stage.create('narrow', { limits: { perUser: { jobs: 1 } }, deletionPolicy: 'Delete' });
      await stage.ready('narrow');
      await mini.run(
        'sacctmgr',
        '-i',
        'add',
        'user',
        'slurm',
        'account=people',
        'qos=normal,narrow',
        'defaultqos=normal',
      );
      const first = await submit('narrow');
      await jobSays(first, /^RUNNING/);
      const second = await submit('narrow');
      await jobSays(second, /^PENDING QOSMaxJobsPerUserLimit/);
      await stage.edit('narrow', { limits: { perUser: { jobs: 2 } } });
      await jobSays(second, /^RUNNING/);
    });

    test('a QOS with running jobs is deleted after them, and names them', async () => {
      const [job] = (await mini.run('squeue', '-h', '-o', '%i')).trim().split('\n').toSorted();
      await stage.delete('narrow');
      const told = await until('InUse', async () => {
        const conditions = (await stage.get('narrow'))?.status?.conditions ?? [];
        return conditions.find(({ reason }) => reason === 'InUse');
      });
      assert.ok(told.message.includes(job ?? 'none'), told.message);
      await mini.run('scancel', '-u', 'slurm');
      await stage.gone('narrow');
      assert.equal(await shown('narrow', 'Name'), '');
    });

    test('drift by sacctmgr is corrected', async () => {
      await stage.create('drifts', { priority: 5 });
      await stage.ready('drifts');
      await mini.run('sacctmgr', '-i', 'modify', 'qos', 'drifts', 'set', 'priority=50', 'gracetime=9');
      await until('the correction', async () => (await shown('drifts', 'Priority')) === '5');
      assert.equal(await shown('drifts', 'Priority,GraceTime'), '5|00:00:09', 'what is not named stays');
    });

    test('slurmdbd that is killed in between changes nothing but the time', async () => {
      await mini.accounting.kill();
      await stage.edit('drifts', { priority: 6 });
      const told = await stage.ready('drifts', 'DatabaseUnknown');
      assert.equal(told.status, 'Unknown');
      await mini.accounting.start();
      await stage.ready('drifts');
      assert.equal(await shown('drifts', 'Priority,GraceTime'), '6|00:00:09');
    });
  });
