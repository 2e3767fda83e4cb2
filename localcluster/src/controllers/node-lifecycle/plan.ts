/** What a node's silence means, and which pods must leave it. Pure. */
import { tolerates } from '@slurm-operator/kube';
import type { Node, Pod, Taint } from '../../objects/objects.ts';
import { isTerminating } from '../../objects/pods.ts';

type Condition = NonNullable<NonNullable<Node['status']>['conditions']>[number];

export interface NodeObserved {
  readonly node: Node;
  /** Milliseconds since the last heartbeat of the node, by our own clock. */
  readonly silentMs: number;
  /** Some node is healthy: without any, the fault is more likely ours, and no pod is evicted. */
  readonly anyHealthy: boolean;
}

export interface NodePlan {
  readonly conditions?: readonly Condition[];
  readonly taints?: readonly Taint[];
}

/** The silence after which a node is no longer believed in. */
export const defaultGraceMs = 50_000;
/** The index of pods by the node that they run on. */
export const podsByNode = 'node';

const key = {
  notReady: 'node.kubernetes.io/not-ready',
  unreachable: 'node.kubernetes.io/unreachable',
  unschedulable: 'node.kubernetes.io/unschedulable',
  outOfService: 'node.kubernetes.io/out-of-service',
} as const;

const reported = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;

export function planNode(
  { node, silentMs, anyHealthy }: NodeObserved,
  now: number,
  graceMs = defaultGraceMs,
): NodePlan {
  const at = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  const before = node.status?.conditions ?? [];
  const lost = silentMs > graceMs;
  const conditions = lost ? unknown(node, before, at) : before;
  const ready = conditions.find((entry) => entry.type === 'Ready')?.status;
  const taints = taintsFor(node, ready, anyHealthy, at);
  return {
    ...(conditions === before ? {} : { conditions }),
    ...(taints === undefined ? {} : { taints }),
  };
}

function unknown(node: Node, before: readonly Condition[], at: string): readonly Condition[] {
  const stale = reported.filter((type) => before.find((entry) => entry.type === type)?.status !== 'Unknown');
  if (stale.length === 0) return before;
  const next = [...before];
  for (const type of reported) {
    const index = next.findIndex((entry) => entry.type === type);
    const known = next[index];
    if (known?.status === 'Unknown') continue;
    const fresh = {
      type,
      status: 'Unknown',
      lastHeartbeatTime: known?.lastHeartbeatTime ?? node.metadata.creationTimestamp,
      lastTransitionTime: at,
      reason: known === undefined ? 'NodeStatusNeverUpdated' : 'NodeStatusUnknown',
      message:
        known === undefined ? 'Kubelet never posted node status.' : 'Kubelet stopped posting node status.',
    } as Condition;
    if (index < 0) next.push(fresh);
    else next[index] = fresh;
  }
  return next;
}

/** Undefined when the taints are right as they are. */
function taintsFor(
  node: Node,
  ready: string | undefined,
  anyHealthy: boolean,
  at: string,
): Taint[] | undefined {
  const wanted: [string, Taint['effect']][] = [];
  const state = ready === 'True' ? undefined : ready === 'Unknown' ? key.unreachable : key.notReady;
  if (state !== undefined) {
    wanted.push([state, 'NoSchedule']);
    // A node that never said anything has nothing to be evicted from.
    if (anyHealthy && ready !== undefined) wanted.push([state, 'NoExecute']);
  }
  if (node.spec.unschedulable === true) wanted.push([key.unschedulable, 'NoSchedule']);
  const held = node.spec.taints ?? [];
  const ours = new Set<string>([key.notReady, key.unreachable, key.unschedulable]);
  const isDesired = (taint: Taint) =>
    wanted.some(([name, effect]) => taint.key === name && taint.effect === effect);
  // An eviction taint once given stays while the node is bad, even if the last healthy node goes too.
  const kept = held.filter(
    (taint) =>
      !ours.has(taint.key) || isDesired(taint) || (taint.key === state && taint.effect === 'NoExecute'),
  );
  const missing = wanted.filter(
    ([name, effect]) => !kept.some((taint) => taint.key === name && taint.effect === effect),
  );
  if (missing.length === 0 && kept.length === held.length) return undefined;
  return [...kept, ...missing.map(([name, effect]) => ({ key: name, effect, timeAdded: at }))];
}

/** When a pod must leave its node: undefined never, otherwise a moment (possibly past). */
export function evictionTime(pod: Pod, node: Node): number | undefined {
  if (isTerminating(pod)) return undefined;
  let soonest: number | undefined;
  for (const taint of node.spec.taints ?? []) {
    if (taint.effect !== 'NoExecute') continue;
    const matching = (pod.spec.tolerations ?? []).filter((entry) => tolerates(entry, taint));
    const since = Date.parse(taint.timeAdded ?? '') || 0;
    if (matching.length === 0) return since;
    const limits = matching.flatMap((entry) =>
      entry.tolerationSeconds === undefined ? [] : [entry.tolerationSeconds],
    );
    if (limits.length === 0) continue;
    const until = since + Math.max(0, Math.min(...limits)) * 1000;
    if (soonest === undefined || until < soonest) soonest = until;
  }
  return soonest;
}

export const isOutOfService = (node: Node): boolean =>
  (node.spec.taints ?? []).some((taint) => taint.key === key.outOfService);

export const isHealthy = (node: Node): boolean =>
  node.status?.conditions?.find((entry) => entry.type === 'Ready')?.status === 'True';
