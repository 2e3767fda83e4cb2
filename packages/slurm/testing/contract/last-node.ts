import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isSchedulable } from '../../src/meaning/node-state.ts';
import { SlurmWatch } from '../../src/watch/slurm-watch.ts';
import type { Subject } from './subject.ts';
import { eventually } from './wire.ts';

const names = ['n0', 'n1', 'n2'];

/** Runs last: it takes the cluster apart and puts it together again. */
export function lastNode(of: () => Subject): void {
  describe('the removal of the last nodes', () => {
    test('surprise: Slurm does not count it as a change, and a list "since" never shows it; the watch does', async () => {
      const client = of().client();
      await using watch = new SlurmWatch({ client });
      watch.start();
      using _fast = watch.pollFast();
      assert.equal((await watch.nodes.listSince(0)).nodes.size, 3);

      // While others remain a removal is a change, as one would think.
      const { updateTime: full } = await client.nodes.list();
      assert.ok(full !== undefined);
      for (const name of ['n0', 'n1']) assert.equal((await client.nodes.delete(name)).outcome, 'accepted');
      const fewer = await client.nodes.listSince(full);
      assert.deepEqual(fewer.changed && fewer.items.map(({ name }) => name), ['n2']);

      // Slurm counts in seconds: only once these have passed does "unchanged" say anything.
      let since = 0;
      await eventually(async () => {
        const listed = await client.nodes.list();
        assert.ok(listed.updateTime !== undefined && listed.updateTime > full + 2);
        since = listed.updateTime;
      }, 30_000);
      await eventually(
        async () => assert.equal((await client.nodes.listSince(since)).changed, false),
        30_000,
      );

      const gone = await client.nodes.delete('n2');
      assert.equal(gone.outcome, 'accepted');
      assert.deepEqual((await client.nodes.list()).items, []);
      for (const _ of [1, 2, 3]) assert.equal((await client.nodes.listSince(since)).changed, false);
      assert.deepEqual([...(await watch.nodes.listSince(gone.at)).nodes.keys()], []);

      for (const name of names) await (await of().stopSlurmd(name))();
      await eventually(async () => {
        const { items } = await client.nodes.list();
        assert.deepEqual(items.map(({ name }) => name).toSorted(), names);
        assert.ok(items.every(({ state }) => isSchedulable(state)));
      }, 60_000);
    });
  });
}
