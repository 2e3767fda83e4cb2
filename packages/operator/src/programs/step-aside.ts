/**
 * Lets a drain of the only usable node finish. The disruption budget keeps the last ready replica until another one is ready
 * elsewhere; where no other node takes it, that never happens. The last replica then reports that it is not ready, and such a replica
 * may always be evicted (`unhealthyPodEvictionPolicy: AlwaysAllow`). A cordon alone changes nothing: both replicas stay ready.
 */
import {
  type Client,
  type Clock,
  type DeepReadonly,
  explain,
  type Log,
  type Node,
  nodes,
  type Pod,
  pods,
  sleep,
} from '@slurm-operator/kube';
import type { Placement } from '../kinds/nodeset/objects/worker-placement.ts';
import { fitsNode } from '../kinds/nodeset/observe/fits-node.ts';

const period = 10_000;
const pageSize = 100;

export interface Replica {
  readonly namespace: string;
  /** Of its pod. */
  readonly name: string;
  /** The node that it runs on. */
  readonly node: string;
}

const isTrue = (
  object: { readonly status?: DeepReadonly<Pick<NonNullable<Node['status']>, 'conditions'>> | undefined },
  condition: string,
): boolean =>
  object.status?.conditions?.some(({ type, status }) => type === condition && status === 'True') === true;

/** Whether a node would take another pod with this placement. Pure. */
export function takesReplica(
  { nodeSelector, affinity, tolerations }: Placement,
  node: DeepReadonly<Node>,
): boolean {
  // Not its nodeName: that is where it runs now.
  return isTrue(node, 'Ready') && fitsNode({ nodeSelector, affinity, tolerations }, node);
}

/** Whether a replacement of one of its peers waits for a node, and no peer is ready: only this pod keeps the budget. Pure. */
export function isLastReplica(own: DeepReadonly<Pod>, all: readonly DeepReadonly<Pod>[]): boolean {
  const owner = ownerOf(own);
  const peers = all.filter(
    (pod) =>
      owner !== undefined &&
      ownerOf(pod) === owner &&
      pod.metadata.uid !== own.metadata.uid &&
      pod.metadata.deletionTimestamp === undefined,
  );
  return peers.some(({ spec }) => !spec?.nodeName) && !peers.some((pod) => isTrue(pod, 'Ready'));
}

const ownerOf = ({ metadata }: DeepReadonly<Pod>): string | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;

export class StepAside {
  readonly name = 'drain watch';
  readonly #client: Client;
  readonly #replica: Replica;
  readonly #clock: Clock;
  readonly #log: Log;
  #why: string | undefined;

  /** The client must not be guarded by leadership: every replica asks. */
  constructor(
    client: Client,
    replica: Replica,
    { clock, log }: { readonly clock: Clock; readonly log: Log },
  ) {
    this.#client = client;
    this.#replica = replica;
    this.#clock = clock;
    this.#log = log;
  }

  readonly check = (): string | undefined => this.#why;

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.look(signal);
      } catch (error) {
        // Unknown: it stays as it was.
        if (!signal.aborted) this.#log.warn({ reason: explain(error) }, 'cannot read the node of this pod');
      }
      await sleep(period * (0.9 + 0.2 * this.#clock.random()), signal, this.#clock).catch(() => undefined);
    }
  }

  async look(signal: AbortSignal): Promise<void> {
    this.#why = (await this.#blocksDrain(signal))
      ? `node ${this.#replica.node} is cordoned, this is the last ready replica and no other node can run its replacement: it may be evicted`
      : undefined;
  }

  async #blocksDrain(signal: AbortSignal): Promise<boolean> {
    const { namespace, name, node } = this.#replica;
    const [own] = (await this.#client.list(nodes, { fieldSelector: `metadata.name=${node}`, signal })).items;
    if (own?.spec?.unschedulable !== true) return false;
    const found: DeepReadonly<Pod>[] = [];
    for await (const { items } of this.#client.pages(pods, { namespace, pageSize, signal }))
      found.push(...items);
    const pod = found.find(({ metadata }) => metadata.name === name);
    if (pod === undefined || !isLastReplica(pod, found)) return false;
    for await (const { items } of this.#client.pages(nodes, { pageSize, signal }))
      if (items.some((other) => takesReplica(pod.spec ?? {}, other))) return false;
    return true;
  }
}
