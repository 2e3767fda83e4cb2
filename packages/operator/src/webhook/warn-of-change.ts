/** Reads the workers of a NodeSet for a warning, within a short deadline. A failure costs the warning its details, never the request. */
import { label, type NodeSet } from '@slurm-operator/api';
import {
  type AdmissionRequest,
  type Client,
  type DeepReadonly,
  type Pod,
  pods,
  sleep,
} from '@slurm-operator/kube';
import { nodeSets } from '../cache/resources.ts';
import { changeWarning, scaleWarning } from './change-warning.ts';

/** A person who applies a manifest does not wait for a remark. */
const patienceMs = 50;

export async function warnOfChange(
  { object, oldObject, namespace, operation }: AdmissionRequest,
  client: Client,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (operation !== 'UPDATE' || object === undefined || oldObject === undefined) return [];
  try {
    // The API server has checked both against the schema of a NodeSet.
    const [before, after] = [oldObject, object] as unknown as readonly [
      DeepReadonly<NodeSet>,
      DeepReadonly<NodeSet>,
    ];
    if (changeWarning(before, after, undefined) === undefined && before.status?.replicas !== undefined)
      return [];
    const warning = changeWarning(before, after, await workersOf(before, client, namespace, signal));
    return warning === undefined ? [] : [warning];
  } catch {
    return [];
  }
}

/** `kubectl scale` and autoscalers change a subresource: a Scale, with the name and the uid of its NodeSet. */
export async function warnOfScale(
  { object, oldObject, namespace, operation }: AdmissionRequest,
  client: Client,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (operation !== 'UPDATE' || object === undefined || oldObject === undefined) return [];
  try {
    const [from, to] = [replicasOf(oldObject), replicasOf(object)];
    const { name } = object.metadata;
    const [workers, nodeSet] = await Promise.all([
      to >= from ? undefined : workersOf(object, client, namespace, signal),
      soon(signal, (stop) => nodeSetOf(name, client, namespace, stop)),
    ]);
    const warning = scaleWarning(name, from, to, workers, nodeSet?.spec.autoscale);
    return warning === undefined ? [] : [warning];
  } catch {
    return [];
  }
}

function replicasOf(scale: object): number {
  const spec = 'spec' in scale ? scale.spec : undefined;
  // Zero is left out.
  return typeof spec === 'object' && spec !== null && 'replicas' in spec && typeof spec.replicas === 'number'
    ? spec.replicas
    : 0;
}

/** A Scale does not say whether its NodeSet ignores it. */
async function nodeSetOf(
  name: string,
  client: Client,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<DeepReadonly<NodeSet> | undefined> {
  const { items } = await client.list(nodeSets, {
    namespace,
    fieldSelector: `metadata.name=${name}`,
    signal,
  });
  return items.find(({ metadata }) => metadata.name === name);
}

async function workersOf(
  { metadata }: { readonly metadata: { readonly uid?: string | undefined } },
  client: Client,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<readonly DeepReadonly<Pod>[] | undefined> {
  return soon(signal, async (stop) => {
    const { items } = await client.list(pods, {
      namespace,
      labelSelector: `${label.component}=worker`,
      signal: stop,
    });
    return items.filter((pod) => pod.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid));
  });
}

/** Undefined when it could not be read in time. */
async function soon<T>(
  signal: AbortSignal,
  read: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const enough = new AbortController();
  const stop = AbortSignal.any([signal, enough.signal]);
  try {
    const reading = read(stop).catch(() => undefined);
    return await Promise.race([reading, sleep(patienceMs, stop).then(() => undefined)]);
  } finally {
    enough.abort();
  }
}
