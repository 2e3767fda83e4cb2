import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Unavailable } from '../../src/errors.ts';
import { emptyQos } from '../../src/model/qos.ts';
import type { Subject } from './subject.ts';
import { eventually, firstError, wire } from './wire.ts';

export function accounting(of: () => Subject): void {
  describe('accounting', () => {
    test('accounts, users, associations and qualities of service are written, read and deleted', async () => {
      const { accounting: db } = of().client();
      await db.check();
      await db.table.create('mini', [
        { name: 'lab', parent: 'root', description: 'the lab', organization: 'org' },
      ]);
      await db.table.addMembers({ cluster: 'mini', account: 'lab' }, ['alice']);
      await db.qos.write([{ ...emptyQos('fast'), description: 'fast lane' }]);
      assert.ok(
        (await db.accounts()).some(({ name, organization }) => name === 'lab' && organization === 'org'),
      );
      const alice = (await db.users()).find(({ name }) => name === 'alice');
      assert.equal(alice?.defaultAccount, '', 'it is set, and not read back');
      assert.ok((await db.qos.list()).some(({ name }) => name === 'fast'));
      assert.ok((await db.associations()).some(({ cluster }) => cluster === 'mini'));
      assert.equal((await db.clusters())[0]?.name, 'mini');
      assert.ok((await db.tres()).some(({ type }) => type === 'cpu'));
      await db.table.deleteUser('alice');
      await db.table.delete('lab');
      await db.qos.delete('fast');
      for (const again of [() => db.table.deleteUser('alice'), () => db.table.delete('lab')])
        assert.equal((await again()).outcome, 'gone', 'deleting what is gone is a 304');
      assert.ok(!(await db.accounts()).some(({ name }) => name === 'lab'));
    });

    test('jobs arrive in the records', async () => {
      const client = of().client();
      const { id } = await client.jobs.submit({ script: '#!/bin/sh\nsleep 0\n' });
      await eventually(async () => {
        const job = await client.accounting.job(id);
        assert.deepEqual(job?.state, ['COMPLETED']);
      });
      assert.ok((await client.accounting.jobs()).some((job) => job.id === id));
      assert.equal(await client.accounting.job(999_999), undefined);
    });

    test('slurmdbd down: 502 and 7000 at once; everything of slurmctld goes on', async () => {
      const back = await of().stopDatabase();
      try {
        for (const call of ['GET slurmdb/ping/', 'GET slurmdb/accounts/']) {
          const answer = await wire(of(), call);
          assert.equal(answer.status, 502, call);
          assert.equal(firstError(answer), 7000);
        }
        const client = of().client({});
        await assert.rejects(client.accounting.accounts(), Unavailable);
        await assert.rejects(client.accounting.check(), Unavailable);
        assert.equal((await client.nodes.list()).items.length, 3);
        const { id } = await client.jobs.submit({ script: '#!/bin/sh\nsleep 0\n' });
        await eventually(async () => assert.deepEqual((await client.jobs.get(id))?.state, ['COMPLETED']));
        assert.equal(client.circuit('slurm').state, 'closed');
        await back();
        await eventually(async () => {
          const job = await of()
            .client()
            .accounting.job(id)
            .catch(() => undefined);
          assert.deepEqual(job?.state, ['COMPLETED'], 'the record arrives after it is back');
        }, 120_000);
      } finally {
        await back().catch(() => undefined);
      }
    });
  });
}
