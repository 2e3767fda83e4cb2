/**
 * Places one pod: filters, then scores, as a pure function. When nothing fits it says why in the words people look
 * up, and whether throwing out pods of lower priority would help.
 */
import { selectsNode, untolerated } from '@slurm-operator/kube';
import type { Pod, Taint } from '../objects/objects.ts';
import { type NodeView, removePod, requestsOf, viewNode } from './node-view.ts';
import {
  affinityObstacle,
  affinityWeight,
  preferenceWeight,
  type Relations,
  relate,
} from './pod-affinity.ts';
import { crowding, type Spread, spreadObstacle, spreadOf } from './topology-spread.ts';

export type Placement =
  | { readonly node: string }
  | { readonly why: string; readonly preempt?: { readonly node: string; readonly victims: readonly Pod[] } };

export interface Demand {
  /** Obstacles that come from the pod's claims, by node; undefined where the node is fine. */
  readonly volumeObstacle?: (node: NodeView['node']) => string | undefined;
  /** Where to begin among the nodes, so that equal ones take turns. */
  readonly offset?: number;
}

interface Context {
  readonly pod: Pod;
  readonly requests: ReadonlyMap<string, number>;
  readonly relations: Relations;
  readonly spreads: readonly Spread[];
  readonly demand: Demand;
}

/** Beyond a hundred fitting nodes a better one is not worth the search. */
const enough = 100;

export function schedulePod(pod: Pod, views: readonly NodeView[], demand: Demand = {}): Placement {
  if (views.length === 0) return { why: 'no nodes available to schedule pods' };
  const context: Context = {
    pod,
    requests: requestsOf(pod),
    relations: relate(pod, views),
    spreads: spreadOf(pod, views),
    demand,
  };
  const reasons = new Map<string, number>();
  const fitting: NodeView[] = [];
  const preemptable: NodeView[] = [];
  for (let index = 0; index < views.length && fitting.length < enough; index++) {
    const view = views[(index + (demand.offset ?? 0)) % views.length];
    if (view === undefined) continue;
    const obstacles = obstaclesOn(view, context);
    if (obstacles.length === 0) fitting.push(view);
    else {
      if (obstacles.every((obstacle) => obstacle.curable)) preemptable.push(view);
      for (const { reason } of obstacles) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
  }
  const best = pickBest(fitting, context);
  if (best !== undefined) return { node: best.node.metadata.name };

  const preempt = findVictims(preemptable, context);
  const summary = `0/${views.length} nodes are available: ${describe(reasons)}.`;
  const hopeless = views.length - preemptable.length;
  const second = describe(
    new Map(
      [
        ['No preemption victims found for incoming pod', preemptable.length] as const,
        ['Preemption is not helpful for scheduling', hopeless] as const,
      ].filter(([, count]) => count > 0),
    ),
  );
  return {
    why:
      preempt === undefined
        ? `${summary} preemption: 0/${views.length} nodes are available: ${second}.`
        : summary,
    ...(preempt === undefined ? {} : { preempt }),
  };
}

function describe(reasons: ReadonlyMap<string, number>): string {
  return [...reasons]
    .map(([reason, count]) => `${count} ${reason}`)
    .toSorted()
    .join(', ');
}

interface Obstacle {
  readonly reason: string;
  /** Fewer pods on the node could remove it. */
  readonly curable: boolean;
}

const fixed = (reason: string): Obstacle[] => [{ reason, curable: false }];
const curable = (reason: string): Obstacle[] => [{ reason, curable: true }];
const cordon: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** The filters in their order; the first that rejects the node gives the reason. */
function obstaclesOn(view: NodeView, { pod, requests, relations, spreads, demand }: Context): Obstacle[] {
  const { node } = view;
  if (node.spec.unschedulable === true && untolerated([cordon], pod.spec.tolerations, ['NoSchedule']))
    return fixed('node(s) were unschedulable');
  if (pod.spec.nodeName !== undefined && pod.spec.nodeName !== '' && pod.spec.nodeName !== node.metadata.name)
    return fixed("node(s) didn't match the requested node name");
  const taint = untolerated(node.spec.taints, pod.spec.tolerations, ['NoSchedule', 'NoExecute']);
  if (taint !== undefined) return fixed(`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`);
  if (!selectsNode(pod.spec, node)) return fixed("node(s) didn't match Pod's node affinity/selector");
  if (portsTaken(view, pod)) return curable("node(s) didn't have free ports for the requested pod ports");
  const short = shortages(view, requests);
  if (short.length > 0) return short;
  const volume = demand.volumeObstacle?.(node);
  if (volume !== undefined) return fixed(volume);
  const spread = spreadObstacle(node, spreads);
  if (spread !== undefined) return curable(spread);
  const affinity = affinityObstacle(pod, node, relations);
  return affinity === undefined ? [] : curable(affinity);
}

function shortages(view: NodeView, requests: ReadonlyMap<string, number>): Obstacle[] {
  const short: Obstacle[] = [];
  const most = view.allocatable.get('pods');
  if (most !== undefined && view.pods.size + 1 > most) short.push({ reason: 'Too many pods', curable: true });
  for (const [name, wanted] of requests) {
    if (wanted === 0) continue;
    const total = view.allocatable.get(name) ?? 0;
    if (wanted + (view.requested.get(name) ?? 0) > total)
      short.push({ reason: `Insufficient ${name}`, curable: wanted <= total });
  }
  return short;
}

function portsTaken(view: NodeView, pod: Pod): boolean {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return false;
  for (const other of view.pods.values())
    if (hostPorts(other).some((port) => wanted.includes(port))) return true;
  return false;
}

const hostPorts = (pod: Pod): string[] =>
  pod.spec.containers.flatMap((container) =>
    (container.ports ?? [])
      .filter((port) => port.hostPort !== undefined && port.hostPort > 0)
      .map((port) => `${port.protocol ?? 'TCP'}/${port.hostPort}`),
  );

function pickBest(fitting: readonly NodeView[], context: Context): NodeView | undefined {
  let best: NodeView | undefined;
  let bestScore = Number.NEGATIVE_INFINITY;
  for (const view of fitting) {
    const score = scoreOf(view, context);
    if (score > bestScore) {
      best = view;
      bestScore = score;
    }
  }
  return best;
}

/** Scores free resources, preferred affinities, and the spread of a controller's pods. */
function scoreOf(view: NodeView, { pod, requests, relations, spreads }: Context): number {
  const free = ['cpu', 'memory'].map((name) => {
    const total = view.allocatable.get(name) ?? 0;
    if (total === 0) return 0;
    return 1 - ((view.requested.get(name) ?? 0) + (requests.get(name) ?? 0)) / total;
  });
  const room = 100 * ((free[0] ?? 0) + (free[1] ?? 0)) * 0.5;
  const avoided = untolerated(view.node.spec.taints, pod.spec.tolerations, ['PreferNoSchedule']) ? 300 : 0;
  return (
    room +
    2 * preferenceWeight(pod, view.node) +
    2 * affinityWeight(view.node, relations) -
    20 * crowding(view.node, spreads) -
    5 * siblings(view, pod) -
    view.pods.size / 10 -
    avoided
  );
}

/** Pods of the same controller on the node: by default a set spreads over the nodes. */
function siblings(view: NodeView, pod: Pod): number {
  const owner = pod.metadata.ownerReferences?.[0]?.uid;
  if (owner === undefined) return 0;
  let count = 0;
  for (const other of view.pods.values()) if (other.metadata.ownerReferences?.[0]?.uid === owner) count++;
  return count;
}

/** The node where the fewest and least important pods would have to go. */
function findVictims(
  views: readonly NodeView[],
  context: Context,
): { node: string; victims: readonly Pod[] } | undefined {
  const priority = context.pod.spec.priority ?? 0;
  if (context.pod.spec.preemptionPolicy === 'Never') return undefined;
  let best: { node: string; victims: readonly Pod[]; cost: number } | undefined;
  for (const view of views.slice(0, enough)) {
    const lesser = [...view.pods.values()]
      .filter((pod) => (pod.spec.priority ?? 0) < priority)
      .toSorted((a, b) => (a.spec.priority ?? 0) - (b.spec.priority ?? 0));
    const trial = viewNode(view.node, view.pods.values());
    const victims: Pod[] = [];
    for (const pod of lesser) {
      removePod(trial, pod.metadata.uid);
      victims.push(pod);
      const relations = relate(context.pod, [trial]);
      if (obstaclesOn(trial, { ...context, relations }).length > 0) continue;
      const cost = victims.reduce((sum, victim) => sum + 1 + (victim.spec.priority ?? 0) * 1000, 0);
      if (best === undefined || cost < best.cost) best = { node: view.node.metadata.name, victims, cost };
      break;
    }
  }
  return best;
}
