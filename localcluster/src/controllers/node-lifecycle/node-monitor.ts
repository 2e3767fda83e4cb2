/** Watches the heartbeats of nodes and marks those that fell silent, with their pods. */
import {
  type Manager,
  type ReconcileContext,
  type Request,
  type Result,
  timestamp,
} from '@slurm-operator/kube';
import { hollowLabel } from '../../objects/hollow-status.ts';
import { leases, type Node, nodes, pods } from '../../objects/objects.ts';
import { condition, isFinished } from '../../objects/pods.ts';
import { isHealthy, planNode, podsByNode } from './plan.ts';

const lookEveryMs = 5000;

export class NodeMonitor {
  readonly #manager: Manager;
  readonly #graceMs: number;
  /** When something new of a node was last seen. Times in the objects are the nodes' own clocks: only their change counts. */
  readonly #signs = new Map<string, { sign: string; at: number }>();

  constructor(manager: Manager, graceMs: number) {
    this.#manager = manager;
    this.#graceMs = graceMs;
  }

  async reconcile({ name }: Request, { signal }: ReconcileContext): Promise<Result | undefined> {
    const { cache, client, clock, recorder } = this.#manager;
    const graceMs = this.#graceMs;
    const node = cache.get(nodes, { name });
    if (node === undefined) {
      this.#signs.delete(name);
      return;
    }
    await this.#annotate(node, signal);
    // With thousands of nodes this is computed only for those that are not healthy.
    const silentMs = this.#silence(node);
    const anyHealthy =
      (isHealthy(node) && silentMs <= graceMs) ||
      cache.list(nodes).some((other) => other.metadata.name !== name && isHealthy(other));
    const plan = planNode({ node, silentMs, anyHealthy }, clock.now(), graceMs);
    if (plan.conditions !== undefined) {
      await client.mergePatch(
        nodes,
        { name },
        { status: { conditions: plan.conditions } },
        { subresource: 'status', signal },
      );
      recorder.normal(node, 'NodeNotReady', `Node ${name} status is now: NodeNotReady`);
    }
    if (plan.taints !== undefined)
      await client.mergePatch(
        nodes,
        { name },
        { spec: { taints: plan.taints.length === 0 ? null : plan.taints } },
        { signal },
      );
    if (!isHealthy(cache.get(nodes, { name }) ?? node)) await this.#markPodsNotReady(name, signal);
    return node.metadata.labels?.[hollowLabel] === 'true' ? undefined : { requeueAfter: lookEveryMs };
  }

  #silence(node: Node): number {
    const { cache, clock } = this.#manager;
    // A hollow node lives as long as this process does: it has nothing to fall silent with.
    if (node.metadata.labels?.[hollowLabel] === 'true') return 0;
    const { name, uid } = node.metadata;
    const lease = cache.get(leases, { namespace: 'kube-node-lease', name })?.spec?.renewTime ?? '';
    const beat = node.status?.conditions?.find((entry) => entry.type === 'Ready')?.lastHeartbeatTime ?? '';
    const ready = isHealthy(node);
    const sign = `${uid} ${lease} ${ready ? beat : ''}`;
    const known = this.#signs.get(name);
    if (known?.sign === sign) return clock.monotonic() - known.at;
    this.#signs.set(name, { sign, at: clock.monotonic() });
    return 0;
  }

  /** How long a node may cache Secrets and ConfigMaps; small clusters say not at all. */
  async #annotate(node: Node, signal: AbortSignal): Promise<void> {
    if (node.metadata.annotations?.['node.alpha.kubernetes.io/ttl'] !== undefined) return;
    await this.#manager.client.mergePatch(
      nodes,
      node.metadata,
      { metadata: { annotations: { 'node.alpha.kubernetes.io/ttl': '0' } } },
      { signal },
    );
  }

  /** A pod on a node that does not report cannot be called ready. */
  async #markPodsNotReady(node: string, signal: AbortSignal): Promise<void> {
    const { cache, client, clock } = this.#manager;
    const lastTransitionTime = timestamp(clock.now());
    for (const pod of cache.byIndex(pods, podsByNode, node)) {
      const ready = condition(pod, 'Ready');
      if (ready?.status !== 'True' || isFinished(pod)) continue;
      const body = { status: { conditions: [{ ...ready, status: 'False', lastTransitionTime }] } };
      await client
        .patch(pods, pod.metadata, { type: 'strategic', body }, { subresource: 'status', signal })
        .catch(() => {});
    }
  }
}
