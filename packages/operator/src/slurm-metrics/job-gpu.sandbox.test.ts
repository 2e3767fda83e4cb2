/** What real Slurm says of the GPUs of a job: device files that exist everywhere stand for them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitUntil } from '@slurm-operator/sandbox';
import { startMiniSlurm } from '@slurm-operator/slurm/testing';
import { gpuSamples } from './gpu-figures.ts';
import { pendingReason } from './pending-reasons.ts';

const patience = { timeoutMs: 60_000, intervalMs: 100 };
const script = '#!/bin/sh\nsleep 600\n';
const devices = ['null', 'zero', 'full', 'random'].map((name) => `Name=gpu Type=fake File=/dev/${name}`);

for (const version of ['26.05', '24.11'] as const)
  test(`Slurm ${version}: each GPU of a running job has its node and its index, and no other job's`, async () => {
    await using mini = await startMiniSlurm({
      version,
      nodes: 0,
      configuration: ['GresTypes=gpu'],
      scripts: { '/etc/slurm/gres.conf': `${devices.join('\n')}\n` },
    });
    for (const name of ['g1', 'g0']) await mini.addNode(name, 'CPUs=4 RealMemory=4000 Gres=gpu:fake:4');
    await mini.waitForNodes(['g0', 'g1']);
    const client = mini.client();
    const submit = async (nodes: number, gpus: string, requiredNodes: readonly string[] = []) => {
      const tresPerNode = gpus;
      const { id } = await client.jobs.submit({
        script,
        nodes,
        requiredNodes,
        tresPerNode,
        memory: 100,
        timeLimit: 60,
      });
      return id;
    };
    const runs = (id: number) =>
      waitUntil(
        `job ${id} to run`,
        async () => (await client.jobs.get(id))?.state.includes('RUNNING'),
        patience,
      );
    const first = await submit(1, 'gres/gpu:1', ['g1']);
    await runs(first);
    const both = await submit(2, 'gres/gpu:3');
    await runs(both);
    const { items } = await client.jobs.list();
    const { samples, omitted } = gpuSamples({ namespace: 'hpc', cluster: 'mini' }, items);
    const of = (id: number, node: string) =>
      samples
        .filter(({ labels }) => labels['job_id'] === String(id) && labels['node'] === node)
        .map(({ labels }) => labels['gpu'] ?? '')
        .toSorted();
    const details = JSON.stringify(items.map(({ id, nodes, gresDetail }) => ({ id, nodes, gresDetail })));
    assert.equal(omitted, 0);
    assert.equal(samples.length, 7, details);
    assert.equal(of(first, 'g1').length, 1, details);
    assert.deepEqual([...of(first, 'g1'), ...of(both, 'g1')].toSorted(), ['0', '1', '2', '3'], details);
    assert.equal(of(both, 'g0').length, 3, details);

    const waits = await submit(1, 'gres/gpu:4');
    const held = await submit(1, 'gres/gpu:2', ['g0']);
    await client.jobs.update(held, { hold: true });
    await waitUntil(
      'the reasons',
      async () => {
        const [waiting, holding] = [await client.jobs.get(waits), await client.jobs.get(held)];
        return (
          waiting !== undefined &&
          holding !== undefined &&
          pendingReason(waiting) === 'Resources' &&
          waiting.stateReason === 'Resources' &&
          pendingReason(holding) === 'Held'
        );
      },
      patience,
    );
  });
