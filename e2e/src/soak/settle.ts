/** The end of a soak: whatever people took they give back, and everybody waits until nothing is left to do. */
import { imageTag } from '@slurm-operator/images';
import { type AnyResource, nodes, pods } from '@slurm-operator/kube';
import { accountings, controllers, loginSets, nodeSets, restApis, tokens } from '@slurm-operator/operator';
import { namespace, type SlurmStage } from '../slurm-stage.ts';
import { until } from '../until.ts';
import type { Administrator } from './administrator.ts';
import { firstSpec, most } from './operations/node-sets.ts';
import { removeAdhocPartition } from './operations/restarts.ts';
import { lastingSets } from './operations/set-names.ts';
import { soakConf } from './soak-conf.ts';
import type { Workload } from './workload.ts';

/** For whatever must come in the end: a loaded machine takes its time, and a deadline that is met costs nothing. */
export const patience = { seconds: 900 };

/** What people create for a while. */
const passing: readonly (readonly [AnyResource, string])[] = [
  [accountings, 'main'],
  [loginSets, 'login'],
  [tokens, 'alice'],
];

export interface Settling {
  readonly stage: SlurmStage;
  readonly load: Workload;
  readonly administrator: Administrator;
  readonly kills: readonly number[];
}

export async function settle({ stage, load, administrator, kills }: Settling): Promise<void> {
  stage.operator.start();
  for (const node of stage.cluster.nodes)
    await stage.client.mergePatch(nodes, { name: node.name }, { spec: { unschedulable: null } });
  await stage.client.mergePatch(
    controllers,
    { namespace, name: 'main' },
    {
      spec: {
        accountingRef: null,
        maxNodeCount: null,
        ha: null,
        extraConf: soakConf.join('\n'),
        slurmctld: { image: imageTag('slurmctld', stage.version) },
      },
    },
  );
  await stage.client.mergePatch(restApis, { namespace, name: 'main' }, { spec: { replicas: 1 } });
  for (const [resource, name] of passing)
    if ((await stage.client.find(resource, { namespace, name })) !== undefined)
      await stage.client.delete(resource, { namespace, name });
  const round = async () => {
    await load.look();
    await uncordonPods(stage);
    await removeAdhocPartition(stage);
    await administrator.goRound([...load.jobs.values()], kills);
  };
  const renamed = await stage.nodeSet('c');
  if (renamed !== undefined && renamed.metadata.deletionTimestamp === undefined) {
    await stage.client.mergePatch(nodeSets, { namespace, name: 'c' }, { spec: { deletionPolicy: 'Drain' } });
    await stage.client.delete(nodeSets, { namespace, name: 'c' });
  }
  /** What a NodeSet waits for is often a job. */
  const seen = async (name: string) =>
    `${await stage.conditionsOf(name)}; jobs: ${JSON.stringify(load.open.slice(0, 10))}`;
  for (const name of lastingSets) await present(stage, name, round, seen);
  await until(
    'NodeSet c is gone',
    async () => {
      await round();
      return (await stage.nodeSet('c')) === undefined;
    },
    { ...patience, seen: () => seen('c') },
  );
  await until(
    'the last job has ended',
    async () => {
      await round();
      return load.open.length === 0;
    },
    { ...patience, seen: () => JSON.stringify(load.open.slice(0, 3)) },
  );
  for (const name of lastingSets)
    await until(
      `NodeSet ${name} is ready`,
      async () => {
        await round();
        return stage.isReady(name, most[name]);
      },
      { ...patience, seen: () => seen(name) },
    );
  await untilUndrained(stage);
}

/** At its full size, rolled out without waiting for anybody; one that is being deleted is made again. */
async function present(
  stage: SlurmStage,
  name: (typeof lastingSets)[number],
  round: () => Promise<void>,
  seen: (name: string) => Promise<string>,
): Promise<void> {
  await until(
    `NodeSet ${name} is gone, or stays`,
    async () => {
      await round();
      const set = await stage.nodeSet(name);
      return set === undefined || set.metadata.deletionTimestamp === undefined;
    },
    { ...patience, seen: () => seen(name) },
  );
  if ((await stage.nodeSet(name)) === undefined) await stage.createNodeSet(name, firstSpec(name));
  await stage.client.mergePatch(
    nodeSets,
    { namespace, name },
    {
      spec: {
        replicas: most[name],
        autoscale: null,
        deletionPolicy: 'Drain',
        slurmd: { image: imageTag('slurmd', stage.version), env: null },
        updateStrategy: {
          type: 'RollingUpdate',
          scheduledUpdate: null,
          rollingUpdate: { paused: false, partition: 0 },
        },
      },
    },
  );
}

/** What people cordoned; what the operator cordoned it takes back itself. */
async function uncordonPods(stage: SlurmStage): Promise<void> {
  for (const { metadata } of await stage.workers()) {
    const notes = metadata.annotations ?? {};
    if (notes['nodeset.slinky.slurm.net/pod-cordon'] === undefined) continue;
    if (notes['nodeset.slinky.slurm.net/pod-cordon-cause'] !== undefined) continue;
    const body = { metadata: { annotations: { 'nodeset.slinky.slurm.net/pod-cordon': null } } };
    await stage.client.mergePatch(pods, { namespace, name: metadata.name }, body).catch(() => undefined);
  }
}

/** More than that it is dynamic, and was created for an autoscaled NodeSet. */
const isUnusual = (flags: ReadonlySet<string>): boolean => flags.size > (flags.has('CLOUD') ? 2 : 1);

export async function untilUndrained(stage: SlurmStage): Promise<void> {
  const slurm = await stage.slurm();
  await until(
    'nothing stays drained',
    async () => {
      const { items } = await slurm.nodes.list();
      const notIdle = items.filter(
        ({ state: { base, flags } }) => base !== 'IDLE' || flags.has('DRAIN') || isUnusual(flags),
      );
      if (notIdle.length === 0) return true;
      throw new Error(
        JSON.stringify(notIdle.map(({ name, state, reason }) => [name, state.base, ...state.flags, reason])),
      );
    },
    patience,
  );
}
