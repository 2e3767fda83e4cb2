/**
 * An autoscaled NodeSet on a cluster with Slurm 24.11, whose nodes the side container of slurmctld creates (later releases: over REST, in
 * `how-to.cluster.test.ts`). `SLURM=26.05` chooses another release.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageTag } from '@slurm-operator/images';
import { exec } from '@slurm-operator/kube';
import { formatNodeState, hasEnded } from '@slurm-operator/slurm';
import { inGivenRegistry, needsCluster } from './src/given/given-cluster.ts';
import { namespace, SlurmStage } from './src/slurm-stage.ts';
import { until } from './src/until.ts';
import { wantedSlurm } from './src/wanted-slurm.ts';

const version = (process.env['SLURM'] ?? '') === '' ? '24.11' : wantedSlurm();

test(`autoscaling with Slurm ${version}: records, a job of two nodes, features, sleep, and no autoscale again`, {
  ...needsCluster(3),
  timeout: 1_200_000,
}, async (t) => {
  await using stage = await SlurmStage.open({ name: `e2e-autoscale-${process.pid}`, nodes: 3, version });
  await stage.startSlurm();
  const began = Date.now();
  const since = () => `${((Date.now() - began) / 1000).toFixed(1)} s`;
  await stage.createNodeSet('scaled', {
    slurmd: {
      image: inGivenRegistry(imageTag('slurmd', version)),
      resources: { limits: { cpu: '1', memory: '600Mi' } },
    },
    extraConf: 'Feature=slow',
    partition: { enabled: true },
    autoscale: { max: 2, idleAfter: '5s', startWithin: '5m' },
  });
  const nodes = async () => {
    const { items } = await (await stage.slurm()).nodes.list();
    return items.filter(({ name }) => name.startsWith('scaled-'));
  };
  const shown = async () =>
    JSON.stringify([
      (await nodes()).map((node) => [node.name, formatNodeState(node.state), node.features]),
      (await stage.nodeSet('scaled'))?.status,
    ]);
  const wait = (what: string, holds: () => Promise<boolean>) =>
    until(what, async () => holds().catch(() => false), { seen: () => shown().catch(String) });
  const areAsleep = async () => {
    const all = await nodes();
    const isAsleep = all.every(({ state }) => state.base === 'IDLE' && state.flags.has('POWERED_DOWN'));
    return all.length === 2 && isAsleep && (await stage.workers()).length === 0;
  };
  await wait('two nodes sleep', areAsleep);
  t.diagnostic(`two nodes sleep ${since()} after the NodeSet was created`);

  const run = async (constraints: string) => {
    const submitted = Date.now();
    const slurm = await stage.slurm();
    const { id } = await slurm.jobs.submit({
      script: '#!/bin/sh\nsleep 2\n',
      nodes: 2,
      tasks: 2,
      timeLimit: 5,
      partition: 'scaled',
      constraints,
    });
    await wait(`job ${id} to end`, async () => hasEnded((await slurm.jobs.get(id))?.state ?? []));
    const job = await slurm.jobs.get(id);
    assert.deepEqual([job?.state, job?.restarts, job?.nodes], [['COMPLETED'], 0, 'scaled-[0-1]']);
    t.diagnostic(`a job of 2 s on two nodes took ${(Date.now() - submitted) / 1000} s`);
    // It did not wait for the check that slurmctld makes every 30 s.
    const { stdout } = await exec(
      stage.client,
      { namespace, name: 'main-controller-0' },
      ['scontrol', 'show', 'config'],
      { container: 'slurmctld' },
    );
    assert.match(stdout, /PrologSlurmctld\S* += \/etc\/slurm\/\.wait-for-nodes/);
  };
  await run('slow');
  await wait('both sleep again', areAsleep);

  await stage.patchNodeSet('scaled', { extraConf: 'Feature=fast' });
  await wait('the nodes to have the other feature', async () =>
    (await nodes()).every(({ features }) => features.toSorted().join() === 'fast,scaled'),
  );
  await run('fast');
  await wait('both sleep once more', areAsleep);

  await stage.patchNodeSet('scaled', { autoscale: null, replicas: 2 });
  await stage.untilReady('scaled', 2);
  assert.ok((await nodes()).every(({ state }) => state.base === 'IDLE' && !state.flags.has('POWERED_DOWN')));
});
