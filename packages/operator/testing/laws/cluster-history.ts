/** Random histories of a whole cluster: what people, machines, Slurm and the operator may do, in any order. */
import fc from 'fast-check';
import { type ClusterWorld, cordonAnnotation, isWorker } from './cluster-world.ts';
import type { StoredObject } from './memory-kube.ts';
import type { Json } from './merge.ts';
import { reinstall } from './reinstall.ts';

export interface Happening {
  readonly does: string;
  readonly n: number;
}

const n = fc.nat({ max: 7 });
const names = ['a', 'b', 'c'] as const;
/** Prefixes of which two make the same name of different ordinals. */
const prefixes = [undefined, 'gpu-', 'gpu-1', 'x-'] as const;

type Step = (world: ClusterWorld, i: number) => void | Promise<void>;

const pick = <T>(from: readonly T[], i: number): T | undefined => from[i % Math.max(1, from.length)];
const workers = (world: ClusterWorld) => world.kube.list('pods').filter(isWorker);
const liveSets = (world: ClusterWorld) =>
  world.nodeSets().filter(({ metadata }) => metadata.deletionTimestamp === undefined);

/** Changes the specification of a NodeSet. */
const change =
  (patch: (spec: Json, i: number, world: ClusterWorld) => Json): Step =>
  (world, i) => {
    const set = pick(liveSets(world), i);
    if (set !== undefined)
      world.patch('nodesets', set, (live) => ({
        ...live,
        spec: { ...(live['spec'] as Json), ...patch(live['spec'] as Json, i >> 1, world) },
      }));
  };

const changeController =
  (patch: (spec: Json, i: number) => Json): Step =>
  (world, i) => {
    const { controller } = world;
    if (controller !== undefined)
      world.patch('controllers', controller, (live) => ({
        ...live,
        spec: { ...(live['spec'] as Json), ...patch(live['spec'] as Json, i) },
      }));
  };

const rolling = (spec: Json, over: object): Json => {
  const strategy = spec['updateStrategy'] as { rollingUpdate: object };
  return { updateStrategy: { ...strategy, rollingUpdate: { ...strategy.rollingUpdate, ...over } } };
};

const withAnnotation = (object: StoredObject, name: string, value: string | undefined): Json => {
  const { [name]: _, ...rest } = object.metadata.annotations ?? {};
  const annotations = value === undefined ? rest : { ...rest, [name]: value };
  return { ...object, metadata: { ...object.metadata, annotations } };
};

/** What moves the world on: it comes more often than anything else, so that histories get somewhere. */
const machinery: Readonly<Record<string, Step>> = {
  'reconcile the Controller': (world, i) => world.operate({ controller: true }, i === 7 ? 1 : undefined),
  'reconcile a NodeSet': async (world, i) => {
    const set = pick(world.nodeSets(), i);
    if (set !== undefined) await world.operate({ nodeSet: set.metadata.name }, i > 4 ? i - 4 : undefined);
  },
  /** One round of everything but the list of jobs, which comes when it comes. */
  'the cluster moves on': async (world, i) => {
    world.kubeWorks();
    world.slurmWorks();
    world.connection.listNodes();
    if (i > 4) world.connection.listJobs();
    await world.operate({ controller: true });
    for (const { metadata } of world.nodeSets()) await world.operate({ nodeSet: metadata.name });
  },
  'Kubernetes works': (world) => world.kubeWorks(),
  'Slurm works': (world) => world.slurmWorks(),
  'list nodes': (world) => world.connection.listNodes(),
  'list jobs': (world) => world.connection.listJobs(),
  'submit a job': (world, i) => {
    const partition = pick([...world.slurm.partitions.keys()], i);
    const other = pick([...world.slurm.partitions.keys()], i + 1);
    if (partition === undefined) return;
    const both = i > 5 && other !== undefined && other !== partition;
    world.slurm.submit(both ? [partition, other] : [partition], world.now, i === 5);
    world.slurmWorks();
  },
};

const people: Readonly<Record<string, Step>> = {
  'create a NodeSet': (world, i) =>
    world.createNodeSet(pick(names, i) ?? 'a', {
      replicas: i % 4,
      scalingMode: i > 5 ? 'DaemonSet' : 'StatefulSet',
      partition: { enabled: i % 2 === 0 },
    }),
  'delete a NodeSet': (world, i) => {
    const set = pick(liveSets(world), i);
    if (set !== undefined) world.deleteNodeSet(set);
  },
  'set the deletion policy': change((_, i) => ({ deletionPolicy: i > 2 ? 'Delete' : 'Drain' })),
  scale: change((_, i) => ({ replicas: i })),
  'enable or disable the partition': change((spec, i) => ({
    partition: { ...(spec['partition'] as Json), enabled: i > 1 },
  })),
  'configure the partition': change((spec, i) => ({
    partition: { ...(spec['partition'] as Json), config: `MaxTime=${i + 1}:00:00` },
  })),
  'change the hostname': change((spec, i) => {
    const { hostname: _, ...rest } = ((spec['template'] as Json | undefined)?.['spec'] ?? {}) as Json;
    const hostname = prefixes[i % prefixes.length];
    return {
      template: {
        ...(spec['template'] as Json | undefined),
        spec: hostname === undefined ? rest : { ...rest, hostname },
      },
    };
  }),
  'change the template': change((spec, i) => ({
    template: { ...(spec['template'] as Json | undefined), metadata: { annotations: { rolled: String(i) } } },
  })),
  'change the scaling mode': change((_, i) => ({ scalingMode: i > 1 ? 'DaemonSet' : 'StatefulSet' })),
  'change maxUnavailable': change((spec, i) => rolling(spec, { maxUnavailable: 1 + (i % 2) })),
  'pause or resume the rollout': change((spec, i) => rolling(spec, { paused: i > 1 })),
  'change the update strategy': change((spec, i, world) => {
    const type = ['RollingUpdate', 'OnDelete', 'ScheduledUpdate', 'ScheduledUpdate'][i] ?? 'RollingUpdate';
    const startTime = new Date(world.now + 3_600_000).toISOString().replace(/\.\d+Z$/, 'Z');
    return {
      updateStrategy: {
        ...(spec['updateStrategy'] as Json),
        type,
        ...(type === 'ScheduledUpdate' ? { scheduledUpdate: { startTime, duration: '30m', flags: [] } } : {}),
      },
    };
  }),
  'set maxNodeCount': changeController((_, i) => ({ maxNodeCount: i === 0 ? undefined : i * 2 })),
  'change extraConf': changeController((_, i) => ({
    extraConf: [
      'PartitionName=all Nodes=ALL Default=YES State=UP',
      ...(i > 3 ? ['PartitionName=extra Nodes=ALL State=UP'] : []),
      ...(i % 3 === 1 ? ['PrologSlurmctld=/etc/slurm/prolog'] : []),
      ...(i % 4 === 2 ? ['NodeName=f0,f1 State=FUTURE'] : []),
      `MessageTimeout=${10 + i}`,
    ].join('\n'),
  })),
  'change the image of slurmctld': changeController((_, i) => ({
    slurmctld: { image: `slurmctld:26.05-${i % 3}` },
  })),
  'change slurm.key': (world, i) => world.changeKey(i),
  'create a partition with scontrol': (world, i) => {
    if (world.slurm.conf.text !== '' && !world.slurmctld.isChanging)
      world.slurm.created.set(`adhoc${i % 2}`, { nodes: ['ALL'], state: 'UP' });
  },
  'submit a job to a partition of scontrol': (world, i) => {
    const partition = pick([...world.slurm.created.keys()], i);
    if (partition !== undefined) world.slurm.submit([partition], world.now, i > 5);
    world.slurmWorks();
  },
  'submit a job that names a node': (world, i) => {
    const node = pick([...world.slurm.nodes.keys()], i);
    if (node !== undefined) world.slurm.submit(['all'], world.now, i > 4, { node });
    world.slurmWorks();
  },
  'submit a job with a feature': (world, i) => {
    const feature = pick([...world.slurm.nodes.values()], i)?.features[0];
    if (feature !== undefined) world.slurm.submit(['all'], world.now, i > 4, { feature });
    world.slurmWorks();
  },
  'annotate the Controller': (world, i) => {
    const { controller } = world;
    if (controller !== undefined)
      world.patch('controllers', controller, (live) => withAnnotation(live, 'backup.example/at', String(i)));
  },
  'cordon a worker': (world, i) => {
    const pod = pick(workers(world), i);
    if (pod !== undefined) world.patch('pods', pod, (live) => withAnnotation(live, cordonAnnotation, 'true'));
  },
  'uncordon a worker': (world, i) => {
    const pod = pick(workers(world), i);
    if (pod !== undefined)
      world.patch('pods', pod, (live) => withAnnotation(live, cordonAnnotation, undefined));
  },
  'cordon a machine': (world, i) => world.machines.cordon(pick(world.machines.names, i) ?? '', true),
  'uncordon a machine': (world, i) => world.machines.cordon(pick(world.machines.names, i) ?? '', false),
  'drain a node by hand': (world, i) => {
    const node = pick([...world.slurm.nodes.values()], i);
    if (node?.drained === false) world.slurm.update(node.name, { state: 'DRAIN', reason: 'bad disk' });
  },
  'undrain a node by hand': (world, i) => {
    const node = pick([...world.slurm.nodes.values()], i);
    if (node?.reason === 'bad disk') world.slurm.update(node.name, { state: 'UNDRAIN' });
  },
  'suspend a job': (world, i) => {
    const job = pick(
      world.slurm.open().filter(({ state }) => state === 'RUNNING'),
      i,
    );
    if (job !== undefined) world.slurm.suspend(job, true);
  },
  'resume a job': (world, i) => {
    const job = pick(
      world.slurm.open().filter(({ state }) => state === 'SUSPENDED'),
      i,
    );
    if (job !== undefined) world.slurm.suspend(job, false);
  },
  'cancel a job': (world, i) => {
    const job = pick(world.slurm.open(), i);
    if (job !== undefined) world.slurm.cancel(job);
  },
  'add an external node': (world, i) => {
    const set = pick(liveSets(world), i);
    const prefix = set?.spec.template?.spec?.hostname ?? `${set?.metadata.name ?? 'a'}-`;
    const feature = prefix.replace(/-+$/, '');
    world.machines.addExternal(`${prefix}${40 + i}`, [feature], world.now);
  },
};

const accidents: Readonly<Record<string, Step>> = {
  'kill the operator': (world) => world.restartOperator(),
  'a Secret is away': (world, i) => world.loseSecret(i > 3 ? 'slurm-auth' : 'slurm-jwt'),
  'the Secrets are back': (world) => world.restoreSecrets(),
  'Slurm is cut off': (world) => {
    world.slurmReachable = false;
    world.connection.listNodes();
    world.connection.listJobs();
  },
  'Slurm is back': (world) => {
    world.slurmReachable = true;
  },
  'the list of jobs fails': (world) => world.connection.loseJobs(),
  'the list of jobs is incomplete': (world) => world.connection.listJobs(true),
  'slurmd ends': (world, i) => {
    const pod = pick(workers(world), i);
    if (pod !== undefined) world.machines.fail(pod, world.now);
  },
  'a machine is lost': (world, i) => world.machines.lose(pick(world.machines.names, i) ?? '', world.now),
  'a machine is back': (world, i) => world.machines.restore(pick(world.machines.names, i) ?? '', world.now),
  'images are lost': (world) => {
    world.machines.imageComes = false;
  },
  'images are back': (world) => {
    world.machines.imageComes = true;
  },
  'slurmctld loses its state': (world, i) => {
    if (i === 0) world.slurm.loseState(world.now);
  },
  'time passes': (world, i) => {
    world.now += i * 30_000;
  },
};

/** Actions in a row that chance seldom brings together; part of a history only where they are asked for. */
const combined: Readonly<Record<string, Step>> = {
  'uninstall, and install again with the kept state': reinstall,
  'crash after a change of the update strategy': async (world, i) => {
    const set = pick(liveSets(world), i);
    await people['change the update strategy']?.(world, i);
    if (set !== undefined) await world.operate({ nodeSet: set.metadata.name }, 1 + (i % 2));
  },
  'lower maxNodeCount beside FUTURE nodes': async (world, i) => {
    await people['change extraConf']?.(world, 2);
    await machinery['the cluster moves on']?.(world, 7);
    await machinery['submit a job']?.(world, i);
    await people['set maxNodeCount']?.(world, 1 + (i % 3));
  },
  'name FUTURE nodes under a low maxNodeCount': async (world, i) => {
    await people['set maxNodeCount']?.(world, 1 + (i % 3));
    // It is tried first, and read after that.
    for (let round = 0; round < 4; round += 1) await machinery['the cluster moves on']?.(world, 7);
    for (let job = 0; job < 4; job += 1) await machinery['submit a job']?.(world, i);
    await people['change extraConf']?.(world, 2);
  },
};

const steps: Readonly<Record<string, Step>> = { ...machinery, ...people, ...accidents, ...combined };

export function happening(
  without: readonly string[] = [],
  often: readonly string[] = [],
): fc.Arbitrary<Happening> {
  const of = (some: Readonly<Record<string, Step>>) =>
    fc.record({ does: fc.constantFrom(...Object.keys(some).filter((name) => !without.includes(name))), n });
  return fc.oneof(
    { weight: 14, arbitrary: of(machinery) },
    { weight: 6, arbitrary: of(people) },
    { weight: 3, arbitrary: of(accidents) },
    ...(often.length === 0
      ? []
      : [{ weight: 14, arbitrary: fc.record({ does: fc.constantFrom(...often), n }) }]),
  );
}

export async function happen(world: ClusterWorld, { does, n: i }: Happening): Promise<void> {
  world.now += 1_000;
  const step = steps[does];
  if (step === undefined) throw new Error(`there is no ${does}`);
  await step(world, i);
  if (world.broken !== undefined) throw world.broken;
}
