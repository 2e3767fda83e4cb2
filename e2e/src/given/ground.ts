/** What the tests take of a given cluster, and how they give it back. */
import {
  AlreadyExistsError,
  type Client,
  customResourceDefinitions,
  NotFoundError,
  namespaces,
  type Resource,
} from '@slurm-operator/kube';
import { everyKind } from '@slurm-operator/operator';
import { until } from '../until.ts';
import { added, type Content, clusterContents } from './cluster-contents.ts';

/** The namespaces of the tests. They must not exist before, and are gone after. */
export const testNamespaces = [
  'slurm',
  'slinky',
  'hybrid',
  'team',
  'slurm-example',
  'slurm-demo',
  'slurm-demo-operator',
] as const;

/** Cluster-wide kinds that the charts create. Nodes, volumes and the like are never removed, whatever their name. */
const removable = new Set([
  'ClusterRole',
  'ClusterRoleBinding',
  'CustomResourceDefinition',
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
]);

/** Throws where the tests would meet what belongs to others. Changes nothing. */
export async function checkGround(client: Client): Promise<void> {
  const taken = (await client.list(namespaces)).items
    .map(({ metadata }) => metadata.name)
    .filter((name) => (testNamespaces as readonly string[]).includes(name));
  const definitions = (await client.list(customResourceDefinitions)).items
    .map(({ metadata }) => metadata.name)
    .filter((name) => name.endsWith('.slinky.slurm.net'));
  if (taken.length + definitions.length > 0)
    throw new Error(
      `The cluster has ${[...taken.map((name) => `the namespace ${name}`), ...definitions].join(', ')} already, which the tests would use. Nothing was changed: remove them, or give another cluster.`,
    );
}

/** Workers are privileged, which Pod Security may refuse where a namespace does not allow it. */
export async function createNamespace(client: Client, name: string): Promise<void> {
  const labels = { 'pod-security.kubernetes.io/enforce': 'privileged' };
  try {
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
  } catch (error) {
    if (!(error instanceof AlreadyExistsError)) throw error;
  }
}

/** Removes what the tests brought, and throws with the names of what would not go. */
export async function restoreGround(client: Client, before: ReadonlyMap<string, Content>): Promise<void> {
  await removeCustomResources(client);
  const isOurs = ({ kind, name, namespace }: Content) =>
    namespace === '' && removable.has(kind) && /slurm-operator|slinky|^slurm/.test(name);
  for (const { path } of added(before, await clusterContents(client)).filter(isOurs))
    await remove(client, path);
  for (const name of testNamespaces)
    if (!before.has(`/api/v1/namespaces/${name}`)) await remove(client, `/api/v1/namespaces/${name}`);
  const left = async () => added(before, await clusterContents(client)).map(({ path }) => path);
  await until('the cluster has only what it had before', async () => (await left()).length === 0, {
    seconds: 300,
    everyMs: 1_000,
    seen: async () => (await left()).join(', '),
  });
}

/** While the operator runs it lets go of them; where it does not, its finalizers are removed. */
async function removeCustomResources(client: Client): Promise<void> {
  const remaining = async () => {
    const found: { resource: Resource; name: string; namespace: string }[] = [];
    for (const kind of everyKind)
      for (const namespace of testNamespaces)
        for (const { metadata } of await list(client, kind as Resource, namespace))
          found.push({ resource: kind as Resource, name: metadata.name, namespace });
    return found;
  };
  for (const { resource, ...ref } of await remaining()) await client.delete(resource, ref);
  try {
    await until('the operator removes its objects', async () => (await remaining()).length === 0, {
      seconds: 90,
    });
  } catch {
    for (const { resource, ...ref } of await remaining())
      await client.mergePatch(resource, ref, { metadata: { finalizers: null } }).catch(ignoreMissing);
  }
}

async function list(client: Client, resource: Resource, namespace: string) {
  try {
    return (await client.list(resource, { namespace })).items;
  } catch (error) {
    if (error instanceof NotFoundError) return [];
    throw error;
  }
}

const remove = (client: Client, path: string): Promise<unknown> =>
  client.json('DELETE', path).catch(ignoreMissing);

function ignoreMissing(error: unknown): void {
  if (!(error instanceof NotFoundError)) throw error;
}
