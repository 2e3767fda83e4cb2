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
import { isTestNamespace, ownership, runLabel } from './ownership.ts';

/** Throws where the tests would meet what belongs to others. Changes nothing. */
export async function checkGround(client: Client): Promise<void> {
  const taken = (await client.list(namespaces)).items
    .map(({ metadata }) => metadata.name)
    .filter(isTestNamespace);
  const definitions = (await client.list(customResourceDefinitions)).items
    .map(({ metadata }) => metadata.name)
    .filter((name) => name.endsWith('.slinky.slurm.net'));
  if (taken.length + definitions.length > 0)
    throw new Error(
      `The cluster has ${[...taken.map((name) => `the namespace ${name}`), ...definitions].join(', ')} already, which the tests would use. Nothing was changed: remove them, or give another cluster.`,
    );
}

/** Names a run; empty where every test has a cluster of its own. */
export const givenRunId = process.env['GIVEN_RUN'] ?? '';

/** On every namespace that a test creates, so that only these are removed from a given cluster. */
export const runLabels: Readonly<Record<string, string>> =
  givenRunId === '' ? {} : { [runLabel]: givenRunId };

/** Workers are privileged, which Pod Security may refuse where a namespace does not allow it. */
export async function createNamespace(client: Client, name: string): Promise<void> {
  const labels = { 'pod-security.kubernetes.io/enforce': 'privileged', ...runLabels };
  try {
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
  } catch (error) {
    if (!(error instanceof AlreadyExistsError)) throw error;
    const found = await client.get(namespaces, { name });
    if (givenRunId !== '' && found.metadata.labels?.[runLabel] !== givenRunId)
      throw new Error(
        `the namespace ${name} was created by others while the tests ran: remove it, or give another cluster`,
        { cause: error },
      );
  }
}

/** What the run created since then and still exists. */
export async function leftOf(
  client: Client,
  before: ReadonlyMap<string, Content>,
): Promise<readonly Content[]> {
  const now = await clusterContents(client);
  const { isOurs } = ownership(givenRunId, now.values());
  return added(before, now).filter(isOurs);
}

/** Removes what the tests created, and throws with the names of what would not go. Objects of others are not looked at. */
export async function restoreGround(client: Client, before: ReadonlyMap<string, Content>): Promise<void> {
  await removeCustomResources(client, await ownNamespaces(client));
  const found = await leftOf(client, before);
  for (const { path } of found.filter(
    ({ kind, namespace }) => namespace === '' && !['Namespace', 'PersistentVolume'].includes(kind),
  ))
    await remove(client, path);
  for (const { path } of found.filter(({ kind }) => kind === 'Namespace')) await remove(client, path);
  const left = async () => (await leftOf(client, before)).map(({ path }) => path);
  await until('what the tests created is gone', async () => (await left()).length === 0, {
    seconds: 300,
    everyMs: 1_000,
    seen: async () => (await left()).join(', '),
  });
}

async function ownNamespaces(client: Client): Promise<string[]> {
  const { items } = await client.list(namespaces);
  const contents = items.map(({ metadata }) => ({
    path: '',
    kind: 'Namespace',
    namespace: '',
    name: metadata.name,
    labels: metadata.labels ?? {},
  }));
  const { isOurs } = ownership(givenRunId, contents);
  return contents.filter(isOurs).map(({ name }) => name);
}

/** While the operator runs it lets go of them; where it does not, its finalizers are removed. */
async function removeCustomResources(client: Client, own: readonly string[]): Promise<void> {
  const remaining = async () => {
    const found: { resource: Resource; name: string; namespace: string }[] = [];
    for (const kind of everyKind)
      for (const namespace of own)
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
