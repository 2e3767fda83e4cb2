/** Restarts of slurmctld that the operator causes, and what it must not restart slurmctld for. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { conditionType, resourceName } from '@slurm-operator/api';
import { currentCondition } from '@slurm-operator/demo/waiting';
import { imageTag } from '@slurm-operator/images';
import { configMaps, draftOf, secrets, statefulSets } from '@slurm-operator/kube';
import { controllers } from '@slurm-operator/operator';
import { namespace, type SlurmStage } from '../../slurm-stage.ts';
import { type Operation, patch, pause, type Run, slurmCommand } from './operation.ts';

/** Slurm forgets it when slurmctld restarts or reconfigures, and ends its jobs. */
export const adhocPartition = 'adhoc';

const rollSlurmctld: Run = async (soak) => {
  const rolled = String(soak.random.below(1e9));
  await patch(soak, controllers, 'main', { template: { metadata: { annotations: { rolled } } } });
  soak.outages.restarts.push(Date.now());
  return 'a new template of slurmctld';
};

/** An image that does not exist ends slurmctld until people correct it. */
const mistakeImage: Run = async (soak) => {
  const good = imageTag('slurmctld', soak.stage.version);
  await patch(soak, controllers, 'main', { slurmctld: { image: `${good}-missing` } });
  soak.outages.restarts.push(Date.now());
  await pause(2_000 + soak.random.below(4_000));
  await patch(soak, controllers, 'main', { slurmctld: { image: good } });
  return 'an image of slurmctld that does not exist, and back';
};

/** What a reconfigure notes beside the state of slurmctld: the configuration that slurmctld read last. */
const told = (stage: SlurmStage): string | undefined =>
  globSync(join(stage.directory, 'cluster/volumes/*/.config-told')).map((file) =>
    readFileSync(file, 'utf8').trim(),
  )[0];

/**
 * The operator may have decided before Slurm told it of a partition (known issue): a configuration or a template is on its way to slurmctld,
 * whatever the Controller says of later ones, or Slurm does not answer the operator.
 */
const isChanging = async (stage: SlurmStage): Promise<boolean> => {
  const main = await stage.client.get(controllers, { namespace, name: 'main' });
  if (currentCondition(main, conditionType.configApplied)?.reason === 'Reconfiguring') return true;
  if (currentCondition(main, conditionType.slurmConnected)?.status !== 'True') return true;
  const map = await stage.client.find(configMaps, { namespace, name: resourceName.config('main') });
  const read = told(stage);
  if (read !== undefined && map?.data?.['.config-version'] !== read) return true;
  const set = await stage.client.find(statefulSets, { namespace, name: 'main-controller' });
  return set?.status?.currentRevision !== set?.status?.updateRevision;
};

const partitionExists = async (stage: SlurmStage): Promise<boolean> =>
  ((await slurmCommand(stage, 'scontrol', 'show', 'partition', '--oneliner')) ?? '').includes(
    `PartitionName=${adhocPartition} `,
  );

/**
 * A partition that only slurmctld knows, with jobs in it, while others change the configuration and the template of slurmctld: the operator must hold
 * all of that. Closed after a while, as the operator asks for, and deleted when its jobs are over.
 */
const adhoc: Run = async (soak) => {
  const { stage, load, orders, random } = soak;
  const name = `PartitionName=${adhocPartition}`;
  const created = await slurmCommand(
    stage,
    'scontrol',
    'create',
    name,
    'Nodes=ALL',
    'State=UP',
    'MaxTime=10',
  );
  if (created === undefined && !(await partitionExists(stage)))
    return 'create a partition with scontrol: refused';
  // A change that is under way may still cost it (known issue): the operator asks Slurm before the kubelet writes the files.
  const settled = Date.now() + 5_000;
  const latest = settled + 25_000;
  while (Date.now() < settled || (Date.now() < latest && (await isChanging(stage)))) await pause(500);
  if (!(await partitionExists(stage))) return 'a partition of scontrol, gone before it had a job';
  if (await isChanging(stage)) {
    await removeAdhocPartition(stage);
    return 'a partition of scontrol, without jobs: a change was under way for long';
  }
  // Before those that wait already.
  const more = { priority: { set: true, number: 1_000 } };
  const jobs: number[] = [];
  for (let i = 0; i < 3; i += 1) {
    const id = await load.submitOne('batch', { partition: adhocPartition, more }).catch(() => undefined);
    if (id !== undefined) jobs.push(id);
  }
  // It has to wait, however many others change something at this moment.
  await rollSlurmctld(soak);
  await pause(3_000 + random.below(5_000));
  await slurmCommand(stage, 'scontrol', 'update', name, 'State=DRAIN');
  const isOver = async () => {
    if (load.open.some(({ id }) => jobs.includes(id))) return false;
    await slurmCommand(stage, 'scontrol', 'delete', name);
    return !(await partitionExists(stage));
  };
  const deadline = Date.now() + 30_000;
  while (!(await isOver()) && Date.now() < deadline) await pause(1_000);
  const left = load.open.filter(({ id }) => jobs.includes(id));
  for (const { id } of left) {
    orders.cancel(id);
    await slurmCommand(stage, 'scancel', String(id));
  }
  await removeAdhocPartition(stage);
  return `a partition of scontrol with ${jobs.length} jobs, ${left.length} of them cancelled`;
};

/** When it has no jobs any more. A slurmctld that restarted has forgotten it. */
export async function removeAdhocPartition(stage: SlurmStage): Promise<void> {
  await slurmCommand(stage, 'scontrol', 'update', `PartitionName=${adhocPartition}`, 'State=DRAIN');
  await slurmCommand(stage, 'scontrol', 'delete', `PartitionName=${adhocPartition}`);
}

const isDigest = /^slinky\.slurm\.net\/.*hash$/;

/** As a restore or a tool that replaces a Secret does. A daemon that runs keeps what it has. */
const takeKeysAway: Run = async ({ stage, neighbours, random }) => {
  const at = { namespace, name: 'keys' };
  const { data = {}, metadata } = await stage.client.get(secrets, at);
  const { labels, annotations } = metadata;
  const digests = async () => {
    const found = await stage.client.find(statefulSets, { namespace, name: 'main-controller' });
    const notes = Object.entries(found?.spec?.template.metadata?.annotations ?? {});
    return notes.filter(([key]) => isDigest.test(key));
  };
  const known = new Set((await digests()).filter(([, value]) => value !== '').map(([key]) => key));
  await stage.client.delete(secrets, at);
  try {
    await pause(2_000 + random.below(3_000));
    const seen = new Map(await digests());
    for (const key of known)
      if ((seen.get(key) ?? '') === '')
        neighbours.note(`slurmctld was restarted because a Secret was away: ${key} is empty`);
  } finally {
    await stage.client.create(
      secrets,
      draftOf(secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { ...at, ...(labels && { labels }), ...(annotations && { annotations }) },
        data,
      }),
    );
  }
  return 'the Secret of the keys is away for some seconds';
};

export const ofRestarts: readonly Operation[] = [
  { kind: 'roll slurmctld out', run: rollSlurmctld },
  { kind: 'an image of slurmctld that does not exist', needs: ['slurmctld'], run: mistakeImage },
  // Neither kill -9 nor a restart by hand meanwhile: those cost it by Slurm's own rules.
  { kind: 'a partition of scontrol', needs: ['slurmctld'], run: adhoc },
  { kind: 'take the keys away', needs: ['keys'], run: takeKeysAway },
];
