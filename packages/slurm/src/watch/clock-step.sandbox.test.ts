/** slurmctld's clock is set back and forth under a running job: what real Slurm answers, and what the watch makes of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitUntil } from '@slurm-operator/sandbox';
import { startMiniSlurm } from '../../testing/index.ts';
import { SlurmWatch } from './slurm-watch.ts';

for (const version of ['26.05', '24.11'] as const)
  test(`Slurm ${version}: a change behind a clock that was set back is seen, and the job continues`, async () => {
    await using mini = await startMiniSlurm({
      version,
      nodes: 1,
      steppedClock: true,
      // A step past this time makes slurmctld give up a node that it has not asked since, and requeue its job.
      configuration: ['SlurmdTimeout=0'],
    });
    const client = mini.client();
    const script = '#!/bin/sh\nsleep 600\n';
    const { id } = await client.jobs.submit({ script, requiredNodes: ['n0'], timeLimit: 600 });
    const state = async () => (await client.jobs.get(id))?.state.join('+');
    const patience = { timeoutMs: 60_000, intervalMs: 100 };
    await waitUntil('the job to run', async () => (await state()) === 'RUNNING', patience);
    // More than the watch lists in full every time.
    await mini.run('scontrol', 'create', 'nodename=x[0-29]', 'cpus=1', 'state=cloud');
    await using watch = new SlurmWatch({ client, pace: { fastMs: 50 } });
    watch.start();
    using _fast = watch.pollFast();
    await waitUntil(
      'all nodes',
      async () => (await watch.nodes.listSince(Date.now())).nodes.size === 31,
      patience,
    );
    const stepTo = async (seconds: number) => {
      await mini.clock?.set(seconds);
      await waitUntil(
        'slurmctld to follow',
        async () => {
          const { time = 0 } = await client.controller.diag();
          return Math.abs(time - Date.now() - seconds * 1000) < 3_000;
        },
        patience,
      );
    };
    for (const seconds of [-600, 0, 300, 0]) {
      await stepTo(seconds);
      const { time = 0 } = await client.controller.diag();
      watch.nodes.controllerTime(time);
      const reason = `test: clock ${seconds}`;
      const { at } = await client.nodes.drain('x3', reason);
      watch.nodes.controllerTime(time);
      const seen = await watch.nodes.listSince(Math.max(at, Date.now()));
      assert.equal(seen.nodes.get('x3')?.reason, reason, `after a step to ${seconds} s`);
      assert.equal(await state(), 'RUNNING');
    }
  });
