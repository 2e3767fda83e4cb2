/** Whether the end of a soak is what a fresh install of the last objects gives, and whether anything is left of what was deleted. */
import { configMaps, controllerRevisions, persistentVolumeClaims } from '@slurm-operator/kube';
import { nodeSets } from '@slurm-operator/operator';
import { operatorUser } from '../operator-rights.ts';
import { namespace, type SlurmStage } from '../slurm-stage.ts';
import { until } from '../until.ts';
import { differences, endState } from './end-state.ts';
import { isForeign } from './neighbours.ts';
import { most, setNames } from './operations/node-sets.ts';
import { patience, untilUndrained } from './settle.ts';

/** Deletes all NodeSets and applies their last specifications to the empty cluster. */
export async function equalsFreshInstall(stage: SlurmStage, say: (line: string) => void): Promise<boolean> {
  const slurm = await stage.slurm();
  await untilQuiet(stage);
  const soaked = await endState(stage.client, slurm);
  const last = new Map<string, object>();
  for (const name of setNames) last.set(name, (await stage.nodeSet(name))?.spec ?? {});
  say('everything is deleted: is anything left?');
  for (const name of setNames) await stage.client.delete(nodeSets, { namespace, name });
  await until(
    'the NodeSets are gone',
    async () => (await stage.client.list(nodeSets, { namespace })).items.length === 0,
    {
      ...patience,
      seen: async () => (await Promise.all(setNames.map((name) => stage.conditionsOf(name)))).join(),
    },
  );
  let left: string[] = [];
  await until('nothing is left', async () => (left = await leftovers(stage)).length === 0, {
    seconds: 60,
  }).catch(() => undefined);
  for (const line of left) say(`left behind: ${line}`);
  say('the same once more, from nothing');
  for (const [name, spec] of last) await stage.create(nodeSets, 'NodeSet', name, spec);
  for (const name of setNames) await stage.untilReady(name, most[name], patience);
  await untilUndrained(stage);
  await untilQuiet(stage);
  const found = differences(soaked, await endState(stage.client, slurm));
  for (const line of found.slice(0, 20)) say(`differs from a fresh install: ${line}`);
  return found.length + left.length === 0;
}

/** Of NodeSets that are gone, in Kubernetes and in Slurm. */
async function leftovers(stage: SlurmStage): Promise<string[]> {
  const slurm = await stage.slurm();
  const { client } = stage;
  const workers = { namespace, labelSelector: 'app.kubernetes.io/name=slurmd' };
  const named = (kind: string, items: readonly { readonly metadata: { readonly name: string } }[]) =>
    items.map(({ metadata }) => `${kind} ${metadata.name}`);
  const partitions = (await slurm.partitions.list()).items.map(({ name }) => name);
  return [
    ...named('Pod', await stage.workers()),
    ...named('PersistentVolumeClaim', (await client.list(persistentVolumeClaims, workers)).items),
    ...named('ControllerRevision', (await client.list(controllerRevisions, workers)).items),
    ...named('ConfigMap', (await client.list(configMaps, workers)).items),
    ...(await slurm.nodes.list()).items
      .filter(({ name }) => !isForeign(name))
      .map(({ name }) => `node ${name}`),
    ...(await slurm.reservations.list()).items
      .filter(({ name }) => name !== 'people')
      .map(({ name }) => `reservation ${name}`),
    ...partitions.filter((name) => name !== 'all').map((name) => `partition ${name}`),
  ];
}

/** The operator has written nothing for as long as it takes to look again at everything. */
async function untilQuiet(stage: SlurmStage): Promise<void> {
  const writes = () =>
    stage.cluster.server.audit.count(
      ({ user, verb, resource }) =>
        user === operatorUser &&
        ['create', 'update', 'patch', 'delete'].includes(verb) &&
        resource !== 'leases',
    );
  let seen = writes();
  let since = Date.now();
  await until(
    'the operator writes no more',
    () => {
      const now = writes();
      if (now !== seen) since = Date.now();
      seen = now;
      return Date.now() - since > 5_000;
    },
    patience,
  );
}
