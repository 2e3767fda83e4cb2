/** What people do to NodeSets: created, scaled, rolled, renamed, deleted, with their partitions. */
import { imageTag } from '@slurm-operator/images';
import { nodeSets } from '@slurm-operator/operator';
import { isSchedulable } from '@slurm-operator/slurm';
import { operatorUser } from '../../operator-rights.ts';
import { namespace, type SlurmStage } from '../../slurm-stage.ts';
import { isForeign } from '../neighbours.ts';
import type { CostlyPolicy } from '../peoples-orders.ts';
import { type Operation, patch, pause, type Soaking, slurmCommand, slurmOf } from './operation.ts';
import { lastingSets, otherHostname, type SetName, setNames, workerIsOf } from './set-names.ts';

/** Jobs that one worker has at a time. */
export const jobsPerWorker = 2;

/** On the one machine that has a worker of NodeSet d. */
export const machineLabel = 'soak.example/set';

export const most: Readonly<Record<SetName, number>> = { a: 3, b: 2, c: 2, d: 1 };

/** A machine has one worker at most: the one of NodeSet d is kept free of others. */
const elsewhere = {
  requiredDuringSchedulingIgnoredDuringExecution: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: machineLabel, operator: 'DoesNotExist' }] }],
  },
};

export function firstSpec(name: SetName): Record<string, unknown> {
  const template =
    name === 'd'
      ? { hostname: 'd-', nodeSelector: { [machineLabel]: 'd' } }
      : { affinity: { nodeAffinity: elsewhere } };
  return {
    ...(name === 'd' ? { scalingMode: 'DaemonSet' } : { replicas: most[name] }),
    updateStrategy: { rollingUpdate: { maxUnavailable: 1 } },
    extraConf: `CPUs=${jobsPerWorker} RealMemory=1000`,
    partition: { enabled: true, config: 'State=UP MaxTime=INFINITE' },
    template: { spec: template },
  };
}

/** Those that exist and are not being deleted. */
export async function presentSets(stage: SlurmStage): Promise<SetName[]> {
  const { items } = await stage.client.list(nodeSets, { namespace });
  return setNames.filter((name) =>
    items.some(({ metadata }) => metadata.name === name && metadata.deletionTimestamp === undefined),
  );
}

const onOne =
  (work: (soak: Soaking, name: SetName) => Promise<string>) =>
  async (soak: Soaking): Promise<string> => {
    const draw = soak.random.next();
    const present = await presentSets(soak.stage);
    const name = present[Math.floor(draw * present.length)];
    return name === undefined ? 'no NodeSet is there' : soak.turns.within(name, () => work(soak, name));
  };

const create = async (soak: Soaking): Promise<string> => {
  const { random, stage } = soak;
  const { items } = await stage.client.list(nodeSets, { namespace });
  const exists = (name: SetName) => items.some(({ metadata }) => metadata.name === name);
  const draw = random.next();
  const missing = lastingSets.filter((name) => !exists(name) && !(name === 'b' && exists('c')));
  const name = missing[Math.floor(draw * missing.length)];
  if (name === undefined) return 'every NodeSet is there already';
  await stage.createNodeSet(name, firstSpec(name));
  return `create NodeSet ${name}`;
};

/** Waits for its jobs, or not: that is what people choose. */
const remove = (policy: 'Drain' | CostlyPolicy) =>
  onOne(async (soak, name) => {
    // With nothing but NodeSets that go there is nothing to lose.
    if ((await presentSets(soak.stage)).length === 1) return `NodeSet ${name} is the last one: it stays`;
    await patch(soak, nodeSets, name, { deletionPolicy: policy });
    const uid = (await soak.stage.nodeSet(name))?.metadata.uid ?? '';
    if (policy !== 'Drain') soak.orders.remove(name, uid, policy, Date.now());
    await soak.stage.client.delete(nodeSets, { namespace, name });
    return `delete NodeSet ${name}, policy ${policy}`;
  });

const scale = onOne(async (soak, name) => {
  const replicas = soak.random.below(most[name] + 1);
  await patch(soak, nodeSets, name, { replicas });
  return `scale ${name} to ${replicas}`;
});

const rollOut = onOne(async (soak, name) => {
  const rolled = String(soak.random.below(1e9));
  await patch(soak, nodeSets, name, { template: { metadata: { annotations: { rolled } } } });
  return `roll out a new revision of ${name}`;
});

/** Another environment, or an image that cannot be pulled, which stops the rollout at its budget; and back. */
const changeContainer = onOne(async (soak, name) => {
  const draw = soak.random.below(4);
  const good = imageTag('slurmd', soak.stage.version);
  const image = draw === 0 ? `${good}-missing` : good;
  const env = draw > 1 ? [{ name: 'SOAK', value: String(draw) }] : null;
  await patch(soak, nodeSets, name, { slurmd: { image, env } });
  return `image of ${name}: ${image}${env === null ? '' : `, SOAK=${draw}`}`;
});

const togglePartition = onOne(async (soak, name) => {
  const enabled = soak.random.below(2) === 0;
  await patch(soak, nodeSets, name, { partition: { enabled } });
  return `${enabled ? 'enable' : 'disable'} the partition of ${name}`;
});

const configurePartition = onOne(async (soak, name) => {
  const hours = 1 + soak.random.below(9);
  await patch(soak, nodeSets, name, { partition: { config: `State=UP MaxTime=${hours}:00:00` } });
  return `partition of ${name}: MaxTime ${hours} h`;
});

/** Kubernetes cannot rename an object: the old one is deleted, draining, and one of another name is created at once. */
const renameNodeSet = async (soak: Soaking): Promise<string> => {
  const { stage } = soak;
  const [from, to] = (await stage.nodeSet('c')) === undefined ? (['b', 'c'] as const) : (['c', 'b'] as const);
  const old = await stage.nodeSet(from);
  if (old === undefined || old.metadata.deletionTimestamp !== undefined)
    return `no NodeSet ${from} to rename`;
  if ((await stage.nodeSet(to)) !== undefined) return `NodeSet ${to} is not gone yet`;
  await patch(soak, nodeSets, from, { deletionPolicy: 'Drain' });
  await stage.client.delete(nodeSets, { namespace, name: from });
  await stage.createNodeSet(to, firstSpec(to));
  return `rename NodeSet ${from} to ${to}`;
};

/** Renames the workers, the Slurm set and the partition. */
const changeHostname = onOne(async (soak, name) => {
  const hostname = soak.random.below(2) === 0 ? otherHostname(name) : name === 'd' ? 'd-' : null;
  await patch(soak, nodeSets, name, { template: { spec: { hostname } } });
  return `hostname of ${name}: ${hostname ?? 'its own name'}`;
});

const changeExtraConf = onOne(async (soak, name) => {
  const feature = `f${soak.random.below(4)}`;
  await patch(soak, nodeSets, name, {
    extraConf: `CPUs=${jobsPerWorker} RealMemory=1000 Feature=${feature}`,
  });
  return `extraConf of ${name}: Feature=${feature}`;
});

const pauseRollout = onOne(async (soak, name) => {
  const paused = soak.random.below(2) === 0;
  await patch(soak, nodeSets, name, { updateStrategy: { rollingUpdate: { paused } } });
  return `${paused ? 'pause' : 'resume'} the rollout of ${name}`;
});

const partitionRollout = onOne(async (soak, name) => {
  const partition = soak.random.below(3);
  await patch(soak, nodeSets, name, { updateStrategy: { rollingUpdate: { partition } } });
  return `roll ${name} out from ordinal ${partition}`;
});

const strategy = onOne(async (soak, name) => {
  const type = soak.random.pick(['RollingUpdate', 'OnDelete', 'ScheduledUpdate']) ?? 'RollingUpdate';
  const startTime = new Date(Date.now() + 30_000).toISOString().replace(/\.\d+Z$/, 'Z');
  const scheduledUpdate = type === 'ScheduledUpdate' ? { startTime, duration: '1m' } : null;
  await patch(soak, nodeSets, name, { updateStrategy: { type, scheduledUpdate } });
  return `update strategy of ${name}: ${type}`;
});

const annotate = onOne(async (soak, name) => {
  const annotations = { 'backup.example/at': String(soak.random.below(1e9)) };
  await soak.stage.client.mergePatch(nodeSets, { namespace, name }, { metadata: { annotations } });
  return `annotate NodeSet ${name}`;
});

/** Nothing gives up within a soak: a worker whose image does not come makes its job wait, not start twice. */
const patientAutoscale = { startWithin: '1h', capacity: { giveUpAfter: '1h' } };

const switchAutoscale = onOne(async (soak, name) => {
  const draw = soak.random.below(4);
  const idleSeconds = 1 + soak.random.below(5);
  if (name === 'd') return 'a NodeSet in DaemonSet mode has no autoscale';
  const autoscale = {
    max: most[name],
    min: draw === 1 ? 1 : 0,
    spare: draw === 2 ? 1 : 0,
    idleAfter: `${idleSeconds}s`,
    ...patientAutoscale,
  };
  await patch(soak, nodeSets, name, { autoscale: draw === 0 ? null : autoscale });
  return draw === 0
    ? `autoscale of ${name}: off`
    : `autoscale of ${name}: min ${autoscale.min}, spare ${autoscale.spare}, idle after ${idleSeconds} s`;
});

/** Slurm does it when the jobs of the node have ended; those that wait wake it again at once. */
const powerDown = onOne(async (soak, name) => {
  const { stage, random } = soak;
  const draw = random.next();
  if ((await stage.nodeSet(name))?.spec.autoscale === undefined) return `NodeSet ${name} has no autoscale`;
  const awake = (await (await slurmOf(soak)).nodes.list()).items.filter(
    (node) => workerIsOf(node.name, name) && !isForeign(node.name) && isSchedulable(node.state),
  );
  const node = awake[Math.floor(draw * awake.length)];
  if (node === undefined) return `no node of ${name} is awake`;
  await slurmCommand(stage, 'scontrol', 'update', `nodename=${node.name}`, 'state=power_down');
  return `power ${node.name} down by hand`;
});

/**
 * The operator is killed as soon as Slurm has its reservation, before it can note that; nothing asks for it afterwards. Its writes of the status
 * are slow meanwhile: the kill comes before the one that follows the reservation, and that one is never carried out.
 */
const killAfterReserving = onOne(async (soak, name) => {
  const { stage } = soak;
  const slurm = await stage.slurm();
  const startTime = new Date(Date.now() + 600_000).toISOString().replace(/\.\d+Z$/, 'Z');
  const scheduledUpdate = { startTime, duration: '1m' };
  const scope = { user: operatorUser, resource: 'nodesets', subresource: 'status', name };
  const heal = stage.cluster.server.faults.delay(1_500, scope);
  let made = false;
  try {
    await patch(soak, nodeSets, name, { updateStrategy: { type: 'ScheduledUpdate', scheduledUpdate } });
    const deadline = Date.now() + 8_000;
    while (!made && Date.now() < deadline)
      made = (await slurm.reservations.list()).items.some((one) => one.name.endsWith(`-${name}`));
    await stage.operator.kill();
  } finally {
    heal();
  }
  await patch(soak, nodeSets, name, { updateStrategy: { type: 'RollingUpdate', scheduledUpdate: null } });
  stage.operator.start();
  return `schedule an update of ${name}, kill -9 the operator ${made ? 'as soon as it has reserved' : 'before it has reserved'}, and take it back`;
});

/**
 * A job that asks for a worker by name waits while that worker is scaled away and slurmctld reads its files again, and runs when
 * the worker is back. People cancel it when that cannot be: the NodeSet may be called otherwise by then.
 */
const nameWorkerThatGoes = onOne(async (soak, name) => {
  const { stage, load, orders } = soak;
  const set = await stage.nodeSet(name);
  if (name === 'd' || set?.spec.autoscale !== undefined) return `NodeSet ${name} does not scale by hand`;
  const ordinalOf = (worker: string) => Number(/-(\d+)$/.exec(worker)?.[1]);
  const workers = (await slurmOf(soak).then((slurm) => slurm.nodes.list())).items
    .map((node) => node.name)
    .filter((worker) => workerIsOf(worker, name) && !isForeign(worker));
  const worker = workers.toSorted((a, b) => ordinalOf(a) - ordinalOf(b)).at(-1);
  if (worker === undefined) return `NodeSet ${name} has no worker`;
  const id = await load.submitOne('held', { requiredNodes: [worker], partition: 'all' });
  if (id === undefined) return `a job that names ${worker}: refused`;
  await patch(soak, nodeSets, name, { replicas: ordinalOf(worker) });
  const isThere = async () => (await stage.workers()).some(({ metadata }) => metadata.name === worker);
  const gone = Date.now() + 25_000;
  while ((await isThere()) && Date.now() < gone) await pause(500);
  await pause(3_000);
  await slurmCommand(stage, 'scontrol', 'reconfigure');
  await pause(2_000);
  await patch(soak, nodeSets, name, { replicas: most[name] });
  const isOpen = () => load.open.some((job) => job.id === id);
  const over = Date.now() + 30_000;
  while (isOpen() && Date.now() < over) await pause(500);
  const open = isOpen();
  if (open) {
    orders.cancel(id);
    await slurmCommand(stage, 'scancel', String(id));
  }
  return `job ${id} names ${worker}, which is scaled away and comes back${open ? '; cancelled, it did not end in time' : ''}`;
});

export const ofNodeSets: readonly Operation[] = [
  { kind: 'create a NodeSet', weight: 5, run: create },
  { kind: 'delete a NodeSet, draining', weight: 2, run: remove('Drain') },
  { kind: 'delete a NodeSet with its pending jobs', run: remove('CancelPending') },
  { kind: 'delete a NodeSet at once', run: remove('Delete') },
  { kind: 'rename a NodeSet', needs: ['NodeSet b', 'NodeSet c'], run: renameNodeSet },
  { kind: 'scale', weight: 4, run: scale },
  // A reconfigure by hand forgets a partition of scontrol.
  { kind: 'a job that names a worker that goes', needs: ['slurmctld'], run: nameWorkerThatGoes },
  { kind: 'roll out', weight: 2, run: rollOut },
  { kind: 'change image or environment of a NodeSet', run: changeContainer },
  { kind: 'enable or disable a partition', weight: 3, run: togglePartition },
  { kind: 'configure a partition', run: configurePartition },
  { kind: 'change a hostname', weight: 2, run: changeHostname },
  { kind: 'change extraConf of a NodeSet', run: changeExtraConf },
  { kind: 'pause or resume a rollout', run: pauseRollout },
  { kind: 'partition a rollout', run: partitionRollout },
  { kind: 'change the update strategy', weight: 2, run: strategy },
  { kind: 'kill -9 the operator after it has reserved', needs: ['operator'], run: killAfterReserving },
  { kind: 'annotate a NodeSet', run: annotate },
  { kind: 'switch autoscale on or off', weight: 4, run: switchAutoscale },
  { kind: 'power a node of an autoscaled NodeSet down', weight: 3, run: powerDown },
];
