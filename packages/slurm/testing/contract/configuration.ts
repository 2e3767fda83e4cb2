import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NotSupported } from '../../src/errors.ts';
import type { Subject } from './subject.ts';
import { eventually } from './wire.ts';

export function configuration(of: () => Subject): void {
  describe('configuration and reservations', () => {
    test('reconfigure, and a partition made by REST is gone after it', async () => {
      const client = of().client();
      if (of().release === '24.11') {
        await assert.rejects(client.partitions.create('blue', 'ALL'), NotSupported);
        assert.equal((await client.controller.reconfigure()).outcome, 'accepted');
        return;
      }
      await client.partitions.create('blue', 'ALL');
      assert.ok((await client.partitions.list()).items.some(({ name }) => name === 'blue'));
      assert.equal((await client.controller.reconfigure()).outcome, 'accepted');
      await eventually(async () => assert.equal(await client.partitions.get('blue'), undefined));
      assert.ok((await client.partitions.get('all')) !== undefined);
    });

    test('a partition is deleted; one that is gone counts as done', async () => {
      const client = of().client();
      if (of().release === '24.11') return assert.rejects(client.partitions.delete('green'), NotSupported);
      await client.partitions.create('green', 'ALL');
      assert.equal((await client.partitions.delete('green')).outcome, 'accepted');
      assert.equal((await client.partitions.delete('green')).outcome, 'gone');
    });

    test('reservations: create, read, change, delete; DELETE is not in 24.11', async () => {
      const client = of().client();
      if (of().release === '24.11') {
        await assert.rejects(client.reservations.write({ name: 'r1', durationMinutes: 60 }), NotSupported);
        await assert.rejects(client.reservations.delete('r1'), NotSupported);
        return;
      }
      const startsAt = Math.ceil(Date.now() / 1000) * 1000 + 3_600_000;
      const write = {
        name: 'r1',
        startsAt,
        durationMinutes: 60,
        nodes: ['n0', 'n1'],
        users: ['slurm'],
        flags: ['MAINT'],
      };
      assert.equal(await client.reservations.write(write), 'r1');
      const [made] = (await client.reservations.list()).items;
      assert.deepEqual(
        [made?.name, made?.nodes, made?.users, made?.startsAt, made?.endsAt],
        ['r1', 'n[0-1]', ['slurm'], startsAt, startsAt + 3_600_000],
      );
      assert.ok(made?.flags.includes('MAINT'));
      await client.reservations.write({ name: 'r1', durationMinutes: 120 });
      assert.equal((await client.reservations.get('r1'))?.endsAt, startsAt + 7_200_000);
      assert.equal((await client.reservations.delete('r1')).outcome, 'accepted');
      assert.equal((await client.reservations.delete('r1')).outcome, 'gone');
      assert.equal(await client.reservations.get('r1'), undefined);
    });
  });
}
