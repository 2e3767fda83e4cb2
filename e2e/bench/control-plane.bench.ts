/**
 * The control plane on real daemons, in seconds: from nothing to Ready, a change of slurm.conf, the truth about each fault
 * after Kubernetes knows it, and the standby that takes over. Needs root.
 */
import { conditionType } from '@slurm-operator/api';
import { pods, type Resource } from '@slurm-operator/kube';
import { accountings, clusters, controllers, loginSets, restApis, tokens } from '@slurm-operator/operator';
import { Figures } from '../../tools/bench/figures.ts';
import { ControlPlane } from '../src/control-plane/control-plane.ts';
import { connectFromOutside, faults, runFault } from '../src/control-plane/faults.ts';
import { takeOver } from '../src/control-plane/take-over.ts';
import { operatorUser } from '../src/operator-rights.ts';
import { namespace } from '../src/slurm-stage.ts';
import { until } from '../src/until.ts';
import { wantedSlurm } from '../src/wanted-slurm.ts';

const version = wantedSlurm();
const figures = new Figures();
const secondsSince = (began: number): number => (performance.now() - began) / 1000;
const open = (name: string, standby: boolean) =>
  ControlPlane.open({ name, nodes: 3, version, nodeGraceMs: 8000, standby });

const reading = new Set(['get', 'list', 'watch']);
const writes = (plane: ControlPlane) =>
  plane.stage.cluster.server.audit.find(
    ({ user, verb, resource }) => user === operatorUser && !reading.has(verb) && resource !== 'events',
  );

/** Resolves when the operator has written nothing for two seconds. */
async function settled(plane: ControlPlane): Promise<void> {
  let [count, since] = [writes(plane).length, Date.now()];
  await until('the operator to keep still', async () => {
    const now = writes(plane).length;
    if (now !== count) [count, since] = [now, Date.now()];
    return Date.now() - since > 2000;
  });
}

async function confChange(plane: ControlPlane, value: number): Promise<number> {
  const { spec } = await plane.stage.client.get(controllers, { namespace, name: 'slurm' });
  const extraConf = `${(spec.extraConf ?? '').replace(/\nMessageTimeout=\d+/, '')}\nMessageTimeout=${value}`;
  const began = performance.now();
  await plane.patch(controllers, 'slurm', { spec: { extraConf } });
  await until(
    'the new value',
    async () => (await plane.slurmctld('scontrol', 'show', 'config')).includes(`= ${value} sec\n`),
    { seconds: 60, everyMs: 50 },
  );
  return secondsSince(began);
}

/** Every object of the control plane is looked at once more, without anything new in it. */
async function secondReconcile(plane: ControlPlane): Promise<number> {
  await settled(plane);
  const before = writes(plane).length;
  const poke = { metadata: { annotations: { 'kubectl.kubernetes.io/poke': 'now' } } };
  for (const resource of [controllers, restApis, accountings, clusters] as readonly Resource[])
    await plane.patch(resource, 'slurm', poke);
  await plane.patch(loginSets, 'login', poke);
  await plane.patch(tokens, 'alice', poke);
  await settled(plane);
  const later = writes(plane).slice(before);
  for (const { verb, resource, subresource, name } of later)
    console.log(`  wrote: ${verb} ${resource}/${subresource} ${name}`);
  return later.length;
}

{
  await using plane = await open('bench-control', false);
  await plane.prepare();
  await until('the database and the directory', async () =>
    (await plane.stage.client.list(pods, { namespace })).items.every(({ status }) =>
      status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True'),
    ),
  );
  const began = performance.now();
  await plane.apply();
  await plane.untilReady();
  figures.note('six kinds and two workers Ready after apply (s)', 'apply_ready_seconds', secondsSince(began));
  const changes = [await confChange(plane, 31), await confChange(plane, 32), await confChange(plane, 33)];
  figures.note(
    'a change of slurm.conf in effect, tried with workers, slowest of 3 (s)',
    'conf_change_seconds',
    Math.max(...changes),
    6,
  );
  figures.note(
    'writes of a second reconcile of everything',
    'second_reconcile_writes',
    await secondReconcile(plane),
    0,
  );
  await connectFromOutside(plane);
  for (const fault of faults) {
    const { truthSeconds, healSeconds } = await runFault(plane, fault);
    const name = fault.name.replaceAll('_', ' ');
    figures.note(`truth after Kubernetes knew: ${name} (s)`, `truth_seconds_${fault.name}`, truthSeconds, 15);
    figures.note(`all well after the cause was gone: ${name} (s)`, `heal_seconds_${fault.name}`, healSeconds);
  }
}
{
  await using plane = await open('bench-ha', true);
  await plane.prepare();
  await plane.apply();
  await plane.untilReady();
  await plane.says(controllers, 'slurm', { type: conditionType.degraded, status: 'False' });
  const { seconds } = await takeOver(plane);
  figures.note('the standby answers after the machine was lost (s)', 'takeover_seconds', seconds);
}

figures.printJson('control-plane', { slurm: version });
