/** A new port of slurmctld waits for the job that runs; then slurm.conf, Service, slurmctld and workers use it together, and jobs run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionType } from '@slurm-operator/api';
import { exec, services, statefulSets } from '@slurm-operator/kube';
import { controllers } from '@slurm-operator/operator';
import { hasEnded } from '@slurm-operator/slurm';
import { needsRoot } from './src/needs-root.ts';
import { namespace, SlurmStage } from './src/slurm-stage.ts';
import { until, untilCondition } from './src/until.ts';
import { wantedSlurm } from './src/wanted-slurm.ts';

const main = { namespace, name: 'main' };
const [old, wanted] = [6817, 7000];

test(`spec.service.port of a Controller changes while a job runs, with Slurm ${wantedSlurm()}`, {
  ...needsRoot,
  timeout: 900_000,
}, async () => {
  await using stage = await SlurmStage.open({ name: `e2e-port-${process.pid}`, nodes: 2 });
  await stage.startSlurm();
  await stage.createNodeSet('w', { replicas: 1 });
  await stage.untilReady('w', 1);
  const slurm = await stage.slurm();
  const { client } = stage;
  const job = async (id: number) => (await slurm.jobs.get(id))?.state ?? [];
  const ports = async () => {
    const [service, set, controller] = await Promise.all([
      client.get(services, { namespace, name: 'main-controller-0' }),
      client.get(statefulSets, { namespace, name: 'main-controller' }),
      client.get(controllers, main),
    ]);
    return [
      service.spec?.ports?.[0]?.port,
      set.spec?.template.spec?.containers[0]?.ports?.[0]?.containerPort,
      controller.status?.slurmctldPort,
    ];
  };
  const config = (reason: string) =>
    untilCondition(client, controllers, main, { type: conditionType.configApplied, reason });

  // Each of its steps asks slurmctld.
  const script = '#!/bin/sh\nfor i in $(seq 20); do srun sleep 1 || exit 1; done\n';
  const { id } = await slurm.jobs.submit({ script, timeLimit: 5, requeue: false });
  await until('the job runs', async () => (await job(id)).includes('RUNNING'));
  await client.mergePatch(controllers, main, { spec: { service: { port: wanted } } });
  const { message } = await config('ConfigHeld');
  assert.match(message, new RegExp(`SlurmctldPort stays ${old} instead of ${wanted}.*\\(${id}\\)`));
  assert.deepEqual(await ports(), [old, old, old]);
  await until('the job has ended', async () => hasEnded(await job(id)));
  assert.deepEqual(await job(id), ['COMPLETED']);
  assert.deepEqual(await ports(), [old, old, old], 'a job could still start');

  await exec(
    client,
    { namespace, name: 'main-controller-0' },
    ['scontrol', 'update', 'partition=all', 'state=inactive'],
    { container: 'slurmctld' },
  );
  await until('every part has the new port', async () => (await ports()).every((port) => port === wanted), {
    seen: async () => JSON.stringify(await ports()),
  });
  await config('Applied');
  await stage.untilReady('w', 1);
  const next = await slurm.jobs.submit({ script: '#!/bin/sh\nsrun true\n', timeLimit: 5, requeue: false });
  await until('a job ends', async () => hasEnded(await job(next.id)));
  assert.deepEqual(await job(next.id), ['COMPLETED']);
});
