/** Whether the end of a soak is what a fresh install of the last objects gives, and whether anything is left of what was deleted. */
import type { NodeSet } from '@slurm-operator/api';
import {
  configMaps,
  controllerRevisions,
  type Draft,
  deployments,
  type Live,
  persistentVolumeClaims,
  type Resource,
  secrets,
  services,
  statefulSets,
} from '@slurm-operator/kube';
import { nodeSets } from '@slurm-operator/operator';
import { operatorUser } from '../operator-rights.ts';
import { namespace, type SlurmStage } from '../slurm-stage.ts';
import { until } from '../until.ts';
import { differences, endState } from './end-state.ts';
import { isForeign } from './neighbours.ts';
import { most } from './operations/node-sets.ts';
import { lastingSets } from './operations/set-names.ts';
import { patience, untilUndrained } from './settle.ts';

/** Deletes all NodeSets and applies their last specifications to the empty cluster. */
export async function equalsFreshInstall(stage: SlurmStage, say: (line: string) => void): Promise<boolean> {
  const slurm = await stage.slurm();
  await untilQuiet(stage);
  const soaked = await endState(stage.client, slurm);
  const last = (await stage.client.list(nodeSets, { namespace })).items.map(asApplied);
  say('everything is deleted: is anything left?');
  for (const name of lastingSets) await stage.client.delete(nodeSets, { namespace, name });
  await until(
    'the NodeSets are gone',
    async () => (await stage.client.list(nodeSets, { namespace })).items.length === 0,
    {
      ...patience,
      seen: async () => (await Promise.all(lastingSets.map((name) => stage.conditionsOf(name)))).join(),
    },
  );
  let left: string[] = [];
  await until('nothing is left', async () => (left = await leftovers(stage)).length === 0, {
    seconds: 60,
  }).catch(() => undefined);
  for (const line of left) say(`left behind: ${line}`);
  say('the same once more, from nothing');
  for (const nodeSet of last) await stage.client.create(nodeSets, nodeSet);
  for (const name of lastingSets) await stage.untilReady(name, most[name], patience);
  await untilUndrained(stage);
  await untilQuiet(stage);
  const found = differences(soaked, await endState(stage.client, slurm));
  for (const line of found.slice(0, 20)) say(`differs from a fresh install: ${line}`);
  return found.length + left.length === 0;
}

/** What a person would apply again: the specification, with the labels and annotations of the object. */
function asApplied({ apiVersion, kind, metadata, spec }: Live<NodeSet>): Draft<NodeSet> {
  const { name, labels, annotations } = metadata;
  const own = {
    name,
    namespace,
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  };
  return { apiVersion, kind, metadata: own, spec };
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
    ...(await ofPassingObjects(stage)),
    ...(await slurm.nodes.list()).items
      .filter(({ name }) => !isForeign(name))
      .map(({ name }) => `node ${name}`),
    ...(await slurm.reservations.list()).items
      // A pause of job starts for a reconfigure ends on its own.
      .filter(({ name }) => name !== 'people' && !name.startsWith('reconfigure-'))
      .map(({ name }) => `reservation ${name}`),
    ...partitions.filter((name) => name !== 'all').map((name) => `partition ${name}`),
  ];
}

/** Of Accounting, LoginSet and Token, which people have deleted: all that the operator made for them is named after them. */
async function ofPassingObjects({ client }: SlurmStage): Promise<string[]> {
  const found: string[] = [];
  for (const resource of [deployments, statefulSets, services, secrets, configMaps] as Resource[])
    for (const { metadata } of (await client.list(resource, { namespace })).items)
      if (/accounting|login|alice/.test(metadata.name)) found.push(`${resource.kind} ${metadata.name}`);
  return found;
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
