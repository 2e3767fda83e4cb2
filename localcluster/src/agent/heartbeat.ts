/** The heartbeat of a node: its object, its status now and then, and its lease every few seconds. */
import { AlreadyExistsError, type Client, draftOf, NotFoundError, sleep } from '@slurm-operator/kube';
import { leases, nodes } from '../objects/objects.ts';
import { buildNode, type NodeDescription, nodeStatus } from './node-object.ts';

export const leaseNamespace = 'kube-node-lease';
const leaseSeconds = 40;

export interface HeartbeatOptions {
  readonly client: Client;
  readonly node: NodeDescription;
  readonly images: () => readonly { names: readonly string[] }[];
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** @default 10_000 */
  readonly everyMs?: number;
}

/** Registers the node; resolves when it is Ready for the API server. */
export async function register({ client, node, images, now, signal }: HeartbeatOptions): Promise<void> {
  const wanted = buildNode(node);
  await client.create(nodes, draftOf(nodes, wanted), { signal }).catch(async (error: unknown) => {
    if (!(error instanceof AlreadyExistsError)) throw error;
    await client.mergePatch(
      nodes,
      { name: node.name },
      { metadata: { labels: wanted.metadata.labels } },
      { signal },
    );
  });
  await renewLease(client, node.name, now(), signal);
  await postStatus(client, node, images(), now(), signal);
}

/** Runs until the signal is aborted; failures are only tried again, as a node does that cannot reach its server. */
export async function beat(options: HeartbeatOptions): Promise<void> {
  const { client, node, now, signal, images } = options;
  const every = options.everyMs ?? 10_000;
  let failed = false;
  for (let round = 1; !signal.aborted; round++) {
    await sleep(failed ? 1000 : every, signal).catch(() => {});
    if (signal.aborted) return;
    try {
      await renewLease(client, node.name, now(), signal);
      // The status is told again every half minute, and first of all after a silence: it may say Unknown by now.
      if (failed || round % 3 === 0) await postStatus(client, node, images(), now(), signal);
      failed = false;
    } catch (error) {
      failed = true;
      if (error instanceof NotFoundError) await register(options).catch(() => {});
    }
  }
}

async function postStatus(
  client: Client,
  node: NodeDescription,
  images: readonly { names: readonly string[] }[],
  now: number,
  signal: AbortSignal,
): Promise<void> {
  const live = await client.get(nodes, { name: node.name }, { signal, timeout: 5000 });
  const status = nodeStatus(node, now, images);
  const conditions = status.conditions.map((wanted) => {
    const before = live.status?.conditions?.find((entry) => entry.type === wanted.type);
    return before?.status === wanted.status && before.lastTransitionTime
      ? { ...wanted, lastTransitionTime: before.lastTransitionTime }
      : wanted;
  });
  await client.mergePatch(
    nodes,
    { name: node.name },
    { status: { ...status, conditions } },
    { subresource: 'status', signal, timeout: 5000 },
  );
}

async function renewLease(client: Client, name: string, now: number, signal: AbortSignal): Promise<void> {
  const renewTime = new Date(now).toISOString().replace('Z', '000Z');
  const spec = { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime };
  const ref = { namespace: leaseNamespace, name };
  try {
    await client.mergePatch(leases, ref, { spec }, { signal, timeout: 5000 });
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    await client.create(
      leases,
      { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: ref, spec },
      { signal, timeout: 5000 },
    );
  }
}
