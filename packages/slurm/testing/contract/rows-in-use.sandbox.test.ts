/** Deleting rows of the accounting database that running jobs use: what each release of Slurm itself refuses. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Refused } from '../../src/errors.ts';
import { emptyQos } from '../../src/model/qos.ts';
import { type MiniSlurm, startMiniSlurm } from '../mini-slurm.ts';
import { realSubject } from './subject.ts';
import { eventually, wire } from './wire.ts';

const cluster = 'mini';
const jobsActive = (error: unknown) => error instanceof Refused && error.number === 7001;

for (const release of ['26.05', '24.11'] as const)
  describe(`rows in use on Slurm ${release}`, () => {
    let mini: MiniSlurm;
    before(async () => {
      mini = await startMiniSlurm({
        version: release,
        nodes: 1,
        accounting: true,
        configuration: ['AccountingStorageEnforce=associations,limits,qos'],
      });
    });
    after(() => mini.stop());

    const runs = async (account: string, qos = 'normal'): Promise<string> => {
      const submit = ['sbatch', '--parsable', '--mem=10', '-A', account, `--qos=${qos}`, '-D', '/tmp'];
      const id = (await mini.run(...submit, '--wrap', 'sleep 600')).trim();
      await eventually(async () =>
        assert.match(await mini.run('squeue', '-h', '-j', id, '-o', '%T'), /RUNNING/),
      );
      return id;
    };
    const ends = async (id: string) => {
      await mini.run('scancel', id);
      const state = async () => (await mini.run('squeue', '-h', '-j', id, '-o', '%T')).trim();
      await eventually(async () => assert.ok(['', 'CANCELLED'].includes(await state())));
    };

    test('a member with a running job is not removed, nor is its account', async () => {
      const { table } = mini.client().accounting;
      await table.create(cluster, [{ name: 'busy', parent: 'root', description: '', organization: '' }]);
      await table.addMembers({ cluster, account: 'busy' }, ['slurm']);
      const id = await runs('busy');
      const member = { cluster, account: 'busy', user: 'slurm', partition: '' };
      await assert.rejects(table.removeMember(member), jobsActive);
      const answer = await wire(realSubject(mini), 'DELETE slurmdb/account/busy');
      assert.equal(answer.body.errors?.[0]?.error_number, 7001);
      await ends(id);
    });

    test('26.05 refuses to delete a QOS of a running job, 24.11 deletes it', async () => {
      const { qos, table } = mini.client().accounting;
      await qos.write([emptyQos('used')]);
      await table.create(cluster, [{ name: 'uses', parent: 'root', description: '', organization: '' }]);
      await table.addMembers({ cluster, account: 'uses' }, ['slurm']);
      const [row] = (await table.rows()).filter(({ account, user }) => account === 'uses' && user === '');
      assert.ok(row);
      await table.write([{ ...row, qos: ['normal', 'used'] }]);
      const id = await runs('uses', 'used');
      if (release === '26.05') await assert.rejects(qos.delete('used'), jobsActive);
      else {
        await qos.delete('used');
        assert.ok(!(await qos.list()).some(({ name }) => name === 'used'));
      }
      await ends(id);
    });
  });
