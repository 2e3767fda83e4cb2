/** Watches the signs of life of nodes, marks those that fell silent, and lets their pods go when their patience ends. */
import { type Manager, type ReconcileContext } from '@slurm-operator/kube';
import { hollowLabel } from '../../objects/hollow-status.ts';
import { leases, type Node, nodes, type Pod, pods } from '../../objects/objects.ts';
import { condition, isFinished, isTerminating } from '../../objects/pods.ts';
import { defaultGraceMs, evictionTime, isHealthy, planNode } from './plan.ts';

export interface NodeLifecycleOptions {
  /** @default 50 s, as in a real cluster */
  readonly graceMs?: number;
}

const byNode = 'node';
const lookEveryMs = 5000;

export function addNodeLifecycleController(manager: Manager, options: NodeLifecycleOptions = {}): void {
  const { cache, client, recorder, clock } = manager;
  const graceMs = options.graceMs ?? defaultGraceMs;
  /** When we last saw something new of a node. Times in the objects are the nodes' own clocks: only their change counts. */
  const signs = new Map<string, { sign: string; at: number }>();
  cache.informer(leases);
  cache
    .informer(pods)
    .addIndex(byNode, (pod) => (pod.spec.nodeName === undefined ? [] : [pod.spec.nodeName]));

  const silence = (node: Node): number => {
    // A hollow node lives as long as this process does: it has nothing to fall silent with.
    if (node.metadata.labels?.[hollowLabel] === 'true') return 0;
    const { name, uid } = node.metadata;
    const lease = cache.get(leases, { namespace: 'kube-node-lease', name })?.spec?.renewTime ?? '';
    const beat = node.status?.conditions?.find((entry) => entry.type === 'Ready')?.lastHeartbeatTime ?? '';
    const ready = isHealthy(node);
    const sign = `${uid} ${lease} ${ready ? beat : ''}`;
    const known = signs.get(name);
    if (known?.sign === sign) return clock.monotonic() - known.at;
    signs.set(name, { sign, at: clock.monotonic() });
    return 0;
  };

  manager
    .controller('node-lifecycle')
    .for(nodes)
    .watches(leases, (lease) =>
      lease.metadata.namespace === 'kube-node-lease' ? [{ name: lease.metadata.name }] : [],
    )
    .reconcile(async ({ name }, { signal }) => {
      const node = cache.get(nodes, { name });
      if (node === undefined) {
        signs.delete(name);
        return;
      }
      await annotate(node, signal);
      // With thousands of nodes this is asked only for those that are in trouble.
      const silentMs = silence(node);
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
      if (!isHealthy(cache.get(nodes, { name }) ?? node)) await markPodsNotReady(name, signal);
      return node.metadata.labels?.[hollowLabel] === 'true' ? undefined : { requeueAfter: lookEveryMs };
    });

  /** How long a node may cache Secrets and ConfigMaps; small clusters say not at all. */
  async function annotate(node: Node, signal: AbortSignal): Promise<void> {
    if (node.metadata.annotations?.['node.alpha.kubernetes.io/ttl'] !== undefined) return;
    await client.mergePatch(
      nodes,
      node.metadata,
      { metadata: { annotations: { 'node.alpha.kubernetes.io/ttl': '0' } } },
      { signal },
    );
  }

  /** What nobody can see any more cannot be called ready. */
  async function markPodsNotReady(node: string, signal: AbortSignal): Promise<void> {
    for (const pod of cache.byIndex(pods, byNode, node)) {
      const ready = condition(pod, 'Ready');
      if (ready?.status !== 'True' || isFinished(pod)) continue;
      const body = { status: { conditions: [{ ...ready, status: 'False', lastTransitionTime: now() }] } };
      await client
        .patch(pods, pod.metadata, { type: 'strategic', body }, { subresource: 'status', signal })
        .catch(() => {});
    }
  }

  const now = () => new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');

  manager
    .controller('taint-eviction')
    .for(pods)
    .watches(nodes, (node) => cache.byIndex(pods, byNode, node.metadata.name).map((pod) => pod.metadata))
    .reconcile(async ({ namespace, name }, context) => {
      const pod = cache.get(pods, { namespace, name });
      const node =
        pod?.spec.nodeName === undefined ? undefined : cache.get(nodes, { name: pod.spec.nodeName });
      if (pod === undefined || node === undefined || isFinished(pod)) return;
      const at = evictionTime(pod, node);
      if (at === undefined) return;
      const left = at - clock.now();
      if (left > 0) return { requeueAfter: left };
      await evict(pod, context);
      return;
    });

  async function evict(pod: Pod, { signal }: ReconcileContext): Promise<void> {
    if (isTerminating(pod)) return;
    const disrupted = {
      type: 'DisruptionTarget',
      ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: now(),
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
    };
    await client.patch(
      pods,
      pod.metadata,
      {
        type: 'strategic',
        body: { metadata: { uid: pod.metadata.uid }, status: { conditions: [disrupted] } },
      },
      { subresource: 'status', signal },
    );
    recorder.normal(
      pod,
      'TaintManagerEviction',
      `Marking for deletion Pod ${pod.metadata.namespace ?? ''}/${pod.metadata.name}`,
    );
    await client.delete(pods, pod.metadata, { uid: pod.metadata.uid, signal });
  }
}
