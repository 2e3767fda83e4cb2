/** A change of configuration that only slurmd refuses: it is found before it is in force, and no worker or job notices it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { annotation, conditionType } from '@slurm-operator/api';
import { pods } from '@slurm-operator/kube';
import { controllers, nodeSets } from '@slurm-operator/operator';
import { hasEnded, type SlurmClient } from '@slurm-operator/slurm';
import { needsRoot } from './src/needs-root.ts';
import { namespace, SlurmStage } from './src/slurm-stage.ts';
import { until, untilCondition } from './src/until.ts';
import { wantedSlurm } from './src/wanted-slurm.ts';

const main = { namespace, name: 'main' };

describe(`trials of configurations with Slurm ${wantedSlurm()}`, {
  ...needsRoot,
  concurrency: false,
  timeout: 1_500_000,
}, () => {
  let stage: SlurmStage;
  let slurm: SlurmClient;
  let good = '';

  before(async () => {
    stage = await SlurmStage.open({ name: `e2e-trial-${process.pid}`, nodes: 2 });
    await stage.startSlurm();
    await stage.createNodeSet('w', { replicas: 2 });
    await stage.untilReady('w', 2);
    slurm = await stage.slurm();
    good = (await stage.client.get(controllers, main)).spec.extraConf ?? '';
  });
  after(() => stage?.[Symbol.asyncDispose]());

  const configure = (extraConf: string) =>
    stage.client.mergePatch(controllers, main, { spec: { extraConf } });
  const config = (reason: string) =>
    untilCondition(stage.client, controllers, main, { type: conditionType.configApplied, reason });
  const inForce = async () => (await stage.client.get(controllers, main)).status?.configHash;
  const job = async (id: string) => (await slurm.jobs.get(id))?.state ?? [];
  const workers = async () =>
    (await stage.workers())
      .map(({ metadata, status }) => `${metadata.uid} ${status?.containerStatuses?.[0]?.restartCount}`)
      .toSorted();

  it('ProctrackType is left out while control groups are disabled: ConfigRejected quotes slurmd, the job completes', async () => {
    const { id } = await slurm.jobs.submit({ script: '#!/bin/sh\nsleep 20\n', timeLimit: 5 });
    await until('the job runs', async () => (await job(String(id))).includes('RUNNING'));
    const [unharmed, hash] = [await workers(), await inForce()];
    await configure(good.replace(/^ProctrackType=.*\n/m, ''));
    const { message } = await config('ConfigRejected');
    assert.match(message, /slurmd of image \S*slurmd:\S+: it ended: .*fatal: cgroup_g_initialize/);
    assert.match(message, /slinky\.slurm\.net\/skip-config-trial=/);
    assert.equal(await inForce(), hash, 'the old one stays in force');
    await until('the job has ended', async () => hasEnded(await job(String(id))));
    assert.deepEqual(await job(String(id)), ['COMPLETED']);
    assert.deepEqual(await workers(), unharmed, 'no worker was restarted or replaced');
  });

  it('a plugin that only slurmd loads and that does not exist is refused', async () => {
    await configure(good.replace(/^ProctrackType=.*$/m, 'ProctrackType=proctrack/none_such'));
    const { message } = await until('the refusal of this one', async () => {
      const condition = await config('ConfigRejected');
      return /none_such/.test(condition.message) ? condition : undefined;
    });
    assert.match(message, /slurmd of image/);
    assert.match(
      (await untilCondition(stage.client, controllers, main, { type: conditionType.ready })).status,
      /True/,
    );
  });

  it('what slurmd takes is in force, on the same workers', async () => {
    const unharmed = await workers();
    await configure(`${good}\nMessageTimeout=33`);
    await until('it is in force', async () => {
      const condition = await config('Applied');
      return condition.status === 'True' && (await inForce());
    });
    const trial = await stage.client.find(pods, { namespace, name: 'main-config-check' });
    assert.equal(trial?.spec?.containers.length ?? 2, 2, 'slurmctld and one slurmd');
    assert.deepEqual(await workers(), unharmed);
    const { id } = await slurm.jobs.submit({ script: '#!/bin/sh\nsrun true\n', timeLimit: 5 });
    await until('a job ends', async () => hasEnded(await job(String(id))));
    assert.deepEqual(await job(String(id)), ['COMPLETED']);
  });

  it('a user skips the trial: WorkersEnded quotes slurmd, no worker is replaced, the old configuration brings them back', async () => {
    const uids = async () =>
      (await stage.workers())
        .map(({ metadata }) => String(metadata.uid))
        .toSorted((a, b) => a.localeCompare(b));
    const first = await uids();
    await configure(good.replace(/^ProctrackType=.*\n/m, ''));
    const { message: refusal } = await config('ConfigRejected');
    const token = /skip-config-trial=(\S+)/.exec(refusal)?.[1];
    await stage.client.mergePatch(controllers, main, {
      metadata: { annotations: { [annotation.skipConfigTrial]: token } },
    });
    const degraded = { type: conditionType.degraded, reason: 'WorkersEnded' };
    const { message } = await untilCondition(stage.client, controllers, main, degraded);
    assert.match(message, /slurmd exited in w-\d.* after configuration [0-9a-f]{12} of Controller main/);
    assert.match(message, /fatal: cgroup_g_initialize/);
    const set = { namespace, name: 'w' };
    // Each names one of the workers that are down when it looks, and these end again and again.
    await until('Controller and NodeSet say the same', async () => {
      const ofController = await untilCondition(stage.client, controllers, main, degraded);
      const ofNodeSet = await untilCondition(stage.client, nodeSets, set, degraded);
      return ofController.message === ofNodeSet.message;
    });
    await until('the kubelet has restarted a worker', async () =>
      (await stage.workers()).some((pod) => (pod.status?.containerStatuses?.[0]?.restartCount ?? 0) > 0),
    );
    assert.deepEqual(await uids(), first, 'crash looping workers back off; they are not replaced');
    await configure(good);
    await config('Applied');
    await stage.untilReady('w', 2);
    assert.deepEqual(await uids(), first);
    const { id } = await slurm.jobs.submit({ script: '#!/bin/sh\nsrun true\n', timeLimit: 5 });
    await until('a job ends', async () => hasEnded(await job(String(id))));
    assert.deepEqual(await job(String(id)), ['COMPLETED']);
  });
});
