/** What real Slurm lists for a node whose only job is suspended, and what the gateway makes of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '@slurm-operator/kube/testing';
import { isDrained, SlurmWatch } from '@slurm-operator/slurm';
import { startMiniSlurm } from '@slurm-operator/slurm/testing';
import { stillSafe } from '../kinds/nodeset/act/still-safe.ts';
import type { NodesView } from './slurm-gateway.ts';
import { WatchedGateway } from './watched-gateway.ts';

for (const version of ['26.05', '24.11'] as const)
  test(`Slurm ${version} lists a node with a suspended job as drained; the gateway never does`, async (t) => {
    // Without memory among the resources Slurm frees all that a suspended job had.
    const configuration = ['SelectTypeParameters=CR_Core'];
    await using mini = await startMiniSlurm({ version, nodes: 1, configuration });
    const client = mini.client();
    const script = '#!/bin/sh\nsleep 600\n';
    const { id } = await client.jobs.submit({ script, requiredNodes: ['n0'], timeLimit: 60 });
    const state = async () => (await client.jobs.get(id))?.state.join('+');
    await until(`job ${id} to run`, async () => (await state()) === 'RUNNING');
    await mini.run('scontrol', 'suspend', String(id));
    await client.nodes.drain('n0', 'slurm-operator: test');
    const [listed] = (await client.nodes.list()).items;
    assert.ok(listed !== undefined && isDrained(listed.state), 'Slurm itself calls it drained');

    await using watch = new SlurmWatch({ client });
    const gateway = new WatchedGateway({ client, watch, controllerStartedAt: () => 0, now: Date.now });
    const isSafe = (view: NodesView) =>
      stillSafe(
        { kind: 'delete-worker', name: 'n0', uid: '1', slurmName: 'n0', because: 'drained', why: 'update' },
        view.kind === 'unknown'
          ? undefined
          : {
              nodes: new Map(view.nodes.map((node) => [node.name, node])),
              jobsKnown: view.jobsUnknown === undefined,
            },
      );
    // As after a start of the operator: the nodes are listed, the jobs are not yet.
    watch.nodes.start();
    await watch.nodes.listSince(0);
    const before = gateway.view();
    assert.match(before.kind === 'known' ? (before.jobsUnknown ?? '') : '', /jobs/);
    assert.equal(isSafe(before), false);

    watch.jobs.start();
    const suspended = await gateway.freshView(t.signal);
    assert.equal(suspended.kind === 'known' && suspended.jobsUnknown, undefined);
    assert.equal(isSafe(suspended), false, 'its job is known to be there');

    await mini.run('scancel', String(id));
    await until('the node without its job to be drained', async () =>
      isSafe(await gateway.freshView(t.signal)),
    );
  });
