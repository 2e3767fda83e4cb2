/** What the guard of power saving holds, on real daemons of both releases: without it a job would wait for a node that nothing wakes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@slurm-operator/kube/testing';
import { PoweredSlurm } from '../../../testing/powered-slurm.ts';
import { waitForNodesFile } from '../render/wait-for-nodes.ts';
import { guardConfig } from './guard-config.ts';
import { workOf } from './slurm-work.ts';

const all = 'PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n';
const saving = `ResumeProgram=/bin/true\nSuspendProgram=/bin/true\nResumeTimeout=120\nSuspendTime=315360000\n${all}`;

for (const version of ['26.05', '24.11'] as const)
  test(`Slurm ${version}: a job that has a sleeping node waits without end when power saving is switched off, and the guard does not do that`, async (t) => {
    // So that Slurm has not begun to wake the node, which is a moment of every wake-up.
    const slow = 'SlurmctldParameters=enable_configless,power_save_interval=600';
    await using slurm = await PoweredSlurm.start(version, [slow]);
    const client = slurm.mini.client();
    await slurm.createRecords('NodeName=w-0 CPUs=4 RealMemory=4000 Feature=w State=CLOUD');
    await until('the node sleeps', async () =>
      (await client.nodes.get('w-0'))?.state.flags.has('POWERED_DOWN'),
    );
    const work = async () => {
      const [partitions, nodes, jobs] = await Promise.all([
        client.partitions.list(),
        client.nodes.list(),
        client.jobs.list(),
      ]);
      return workOf({ partitions: partitions.items, nodes: nodes.items, jobs: jobs.items });
    };
    const holds = async () =>
      guardConfig({ inForce: saving, desired: all, slurm: await work() }).holds.map(({ name }) => name);
    assert.deepEqual(await holds(), [], 'no job waits');
    const { id } = await client.jobs.submit({ script: '#!/bin/sh\nsleep 1\n', requeue: false });
    const isWaiting = async () => (await client.jobs.get(id))?.state.includes('CONFIGURING');
    await until('the job has its node', isWaiting);
    assert.deepEqual(await holds(), ['ResumeProgram', 'SuspendProgram', 'SuspendTime', 'ResumeTimeout']);
    // 24.11 does not list it when power saving is off.
    const isWaking = async () => (await client.nodes.get('w-0'))?.state.flags.has('POWERING_UP') === true;
    const wasWaking = await isWaking();
    await slurm.mini.configure([]);
    await delay(5_000);
    assert.equal(await isWaiting(), true);
    if (wasWaking)
      t.diagnostic('Slurm had begun to wake the node already: the hold was seen, its reason was not');
    else assert.equal(await isWaking(), false, 'nothing wakes its node any more');
    await client.jobs.cancel(id);
  });

for (const version of ['26.05', '24.11'] as const)
  test(`Slurm ${version}: jobs start although the file that PrologSlurmctld names is gone, as it is before slurmctld reads a slurm.conf without it`, async () => {
    await using slurm = await PoweredSlurm.start(version);
    const client = slurm.mini.client();
    await slurm.mini.addNode('n-0', 'CPUs=4 RealMemory=4000 Feature=w');
    await slurm.mini.waitForNodes(['n-0']);
    await slurm.mini.controller.exec(['rm', `/etc/slurm/${waitForNodesFile}`]);
    const { id } = await client.jobs.submit({ script: '#!/bin/sh\nsleep 1\n', requeue: false });
    const job = await until('the job has ended', async () => {
      const found = await client.jobs.get(id);
      return found?.state.includes('COMPLETED') ? found : undefined;
    });
    assert.equal(job.restarts, 0);
  });
