import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Refused } from '../../src/errors.ts';
import { isSchedulable } from '../../src/meaning/node-state.ts';
import type { Subject } from './subject.ts';
import { eventually } from './wire.ts';

const set = 'NodeSet=ours Feature=mini';
const long = 'PartitionName=long Nodes=ours';
const script = '#!/bin/sh\nsleep 300\n';

/** Runs last: it drops partitions and nodes, and jobs with them. */
export function reconfigure(of: () => Subject): void {
  describe('what a new slurm.conf does to jobs', () => {
    after(async () => {
      await of().configure([]);
    });

    const states = async (...ids: number[]) =>
      Promise.all(ids.map(async (id) => (await of().client().jobs.get(id))?.state[0]));
    const running = (id: number) => eventually(async () => assert.deepEqual(await states(id), ['RUNNING']));
    const cancel = async (...ids: number[]) => {
      for (const id of ids) await of().client().jobs.cancel(id);
    };

    test('State=DRAIN keeps the jobs of a partition, lets pending ones start, and refuses new ones', async () => {
      const { jobs, partitions } = of().client();
      await of().configure([set, long]);
      await eventually(async () => assert.deepEqual((await partitions.get('long'))?.state, ['UP']));
      const { id: runs } = await jobs.submit({ script, partition: 'long' });
      const { id: waits } = await jobs.submit({ script, partition: 'long', hold: true });
      await running(runs);
      await of().configure([set, `${long} State=DRAIN`]);
      await eventually(async () => assert.deepEqual((await partitions.get('long'))?.state, ['DRAIN']));
      assert.deepEqual(await states(runs, waits), ['RUNNING', 'PENDING']);
      await assert.rejects(
        jobs.submit({ script, partition: 'long' }),
        (error) => error instanceof Refused && error.number === 2070,
      );
      await jobs.release(waits);
      await running(waits);
      await cancel(runs, waits);
    });

    test('surprise: a partition that leaves slurm.conf takes its running and pending jobs with it', async () => {
      const { jobs, partitions } = of().client();
      await of().configure([set, long]);
      await eventually(async () => assert.deepEqual((await partitions.get('long'))?.state, ['UP']));
      const { id: runs } = await jobs.submit({ script, partition: 'long' });
      const { id: waits } = await jobs.submit({ script, partition: 'long', hold: true });
      const { id: both } = await jobs.submit({ script, partition: 'long,all', hold: true });
      const { id: other } = await jobs.submit({ script, partition: 'all', hold: true });
      await running(runs);
      await of().configure([]);
      await eventually(async () => {
        const [first, second, third, fourth] = await states(runs, waits, both, other);
        assert.deepEqual([first, second, fourth], ['NODE_FAIL', 'NODE_FAIL', 'PENDING']);
        assert.equal(third, of().release === '26.05' ? 'PENDING' : 'NODE_FAIL', 'one that waits in both');
      });
      await cancel(both, other);
    });

    test('surprise: MaxNodeCount below the nodes drops records, and jobs with them', async () => {
      const { jobs, nodes } = of().client();
      const ids: number[] = [];
      for (const name of ['n0', 'n1', 'n2'])
        ids.push((await jobs.submit({ script, requiredNodes: [name], requeue: false })).id);
      for (const id of ids) await running(id);
      await of().configure(['MaxNodeCount=2']);
      await eventually(async () => {
        assert.equal((await nodes.list()).items.length, 2);
        const now = await states(...ids);
        assert.equal(now.filter((state) => state === 'RUNNING').length, 2);
        assert.ok(now.includes('NODE_FAIL'));
      });
      await cancel(...ids);
      await of().configure([]);
      for (const name of ['n0', 'n1', 'n2']) await (await of().stopSlurmd(name))();
      await eventually(async () => {
        const { items } = await nodes.list();
        assert.deepEqual([items.length, items.every(({ state }) => isSchedulable(state))], [3, true]);
      });
    });
  });
}
