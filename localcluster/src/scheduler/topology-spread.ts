/** Topology spread constraints: no domain may hold too many more of the matching pods than the emptiest one. */
import { selectsNode } from '@slurm-operator/kube';
import { selectorMatches } from '@slurm-operator/kubernetes-values';
import type { Node, Pod } from '../objects/objects.ts';
import type { NodeView } from './node-view.ts';

export interface Spread {
  readonly key: string;
  readonly maxSkew: number;
  readonly hard: boolean;
  readonly self: number;
  readonly counts: ReadonlyMap<string, number>;
  readonly fewest: number;
}

export function spreadOf(pod: Pod, views: readonly NodeView[]): Spread[] {
  return (pod.spec.topologySpreadConstraints ?? []).map((constraint) => {
    const counts = new Map<string, number>();
    const selector = constraint.labelSelector;
    const keys = (constraint.matchLabelKeys ?? []).filter((key) => pod.metadata.labels?.[key] !== undefined);
    const matches = (other: Pod) =>
      selectorMatches(selector, other.metadata.labels) &&
      keys.every((key) => other.metadata.labels?.[key] === pod.metadata.labels?.[key]);
    for (const view of views) {
      const value = view.node.metadata.labels?.[constraint.topologyKey];
      if (value === undefined || !selectsNode(pod.spec, view.node)) continue;
      let found = 0;
      for (const other of view.pods.values())
        if (
          other.metadata.namespace === pod.metadata.namespace &&
          other.metadata.deletionTimestamp === undefined &&
          matches(other)
        )
          found++;
      counts.set(value, (counts.get(value) ?? 0) + found);
    }
    return {
      key: constraint.topologyKey,
      maxSkew: constraint.maxSkew,
      hard: constraint.whenUnsatisfiable === 'DoNotSchedule',
      self: matches(pod) ? 1 : 0,
      counts,
      fewest: counts.size < (constraint.minDomains ?? 1) ? 0 : Math.min(...counts.values()),
    };
  });
}

export function spreadObstacle(node: Node, spreads: readonly Spread[]): string | undefined {
  for (const spread of spreads) {
    if (!spread.hard) continue;
    const value = node.metadata.labels?.[spread.key];
    if (value === undefined)
      return "node(s) didn't match pod topology spread constraints (missing required label)";
    if ((spread.counts.get(value) ?? 0) + spread.self - spread.fewest > spread.maxSkew)
      return "node(s) didn't match pod topology spread constraints";
  }
  return undefined;
}

/** How crowded a node's domains are: fewer is better. */
export function crowding(node: Node, spreads: readonly Spread[]): number {
  return spreads.reduce((sum, spread) => {
    const value = node.metadata.labels?.[spread.key];
    return sum + (value === undefined ? 0 : (spread.counts.get(value) ?? 0));
  }, 0);
}
