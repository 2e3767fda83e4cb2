/** Real Slurm as hand-written pods: on the cluster that KUBECONFIG names, or on one made here. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildImage } from '@slurm-operator/images';
import { createClient, loadConfig } from '@slurm-operator/kube';
import { runSlurmPods } from '../testing/run-slurm-pods.ts';
import { startLocalCluster } from './cluster/start-local-cluster.ts';

const version = '26.05';
const given = (process.env['KUBECONFIG'] ?? '') !== '';
const skip = given || process.getuid?.() === 0 ? false : 'needs root, or a cluster in KUBECONFIG';

test('slurmctld, slurmrestd and three slurmd as pods run a job on three nodes', { skip }, async (t) => {
  const images: string[] = [];
  if (!given)
    for (const name of ['slurmctld', 'slurmrestd', 'slurmd'] as const)
      images.push((await buildImage(name, version)).path);
  const began = performance.now();
  const directory = await mkdtemp(join(tmpdir(), 'slurm-pods-'));
  const cluster = given
    ? undefined
    : await startLocalCluster({
        name: `slurm-pods-${process.pid}`,
        nodes: 3,
        directory: join(directory, 'state'),
        images,
      });
  const client = createClient(cluster?.config ?? (await loadConfig()), { userAgent: 'test' });
  try {
    const run = await runSlurmPods(client, {
      namespace: 'slurm-pods-test',
      workers: 3,
      version,
      now: Math.floor(Date.now() / 1000),
      signal: AbortSignal.timeout(400_000),
    });
    t.diagnostic(`${((performance.now() - began) / 1000).toFixed(1)} s from nothing to: ${run.lines.at(-1)}`);
    assert.equal(run.completed, true, run.lines.join('\n'));
    assert.match(run.lines.at(-1) ?? '', /^job \d+ COMPLETED on slurmd-\[/);
  } finally {
    if (given) await client.json('DELETE', '/api/v1/namespaces/slurm-pods-test').catch(() => {});
    client.close();
    await cluster?.stop();
    await rm(directory, { recursive: true, force: true });
  }
});
