/**
 * Affinity between pods. Everything that depends only on the pod to place is worked out once (`relate`); asking about
 * one node is then a few lookups, which is what makes thousands of nodes affordable.
 */

import { termMatches } from '@slurm-operator/kube';
import { type LabelSelector, selectorMatches } from '@slurm-operator/kubernetes-values';
import type { Node, Pod } from '../objects/objects.ts';
import type { NodeView } from './node-view.ts';

interface Term {
  readonly labelSelector?: LabelSelector;
  readonly topologyKey: string;
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: LabelSelector;
}

export interface Relations {
  /** Domains ("key=value") where a pod that repels the new one lives. */
  readonly forbiddenByOthers: ReadonlySet<string>;
  /** Domains the new pod itself refuses. */
  readonly refused: ReadonlySet<string>;
  /** For each required affinity term: the domains where it is met, or undefined when the pod may be the first. */
  readonly required: readonly (ReadonlySet<string> | undefined)[];
  /** Weight by domain of what is preferred (negative: better not). */
  readonly preferred: ReadonlyMap<string, number>;
}

const nothing: Relations = {
  forbiddenByOthers: new Set(),
  refused: new Set(),
  required: [],
  preferred: new Map(),
};

const domain = (node: Node, key: string): string | undefined => {
  const value = node.metadata.labels?.[key];
  return value === undefined ? undefined : `${key}=${value}`;
};

export const hasAffinity = (pod: Pod): boolean =>
  pod.spec.affinity?.podAffinity !== undefined || pod.spec.affinity?.podAntiAffinity !== undefined;

const requiredTerms = (
  affinity: { requiredDuringSchedulingIgnoredDuringExecution?: readonly unknown[] } | undefined,
): Term[] => (affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) as Term[];

export function relate(pod: Pod, views: Iterable<NodeView>): Relations {
  const own = hasAffinity(pod);
  const affinity = requiredTerms(pod.spec.affinity?.podAffinity);
  const anti = requiredTerms(pod.spec.affinity?.podAntiAffinity);
  const weighted = weightedTerms(pod);
  const forbiddenByOthers = new Set<string>();
  const refused = new Set<string>();
  const met = affinity.map(() => new Set<string>());
  const preferred = new Map<string, number>();
  let touched = own;
  for (const view of views) {
    for (const other of view.pods.values()) {
      if (!own && other.spec.affinity?.podAntiAffinity === undefined) continue;
      for (const term of requiredTerms(other.spec.affinity?.podAntiAffinity)) {
        const at = domain(view.node, term.topologyKey);
        if (at !== undefined && matches(term, other, pod)) {
          forbiddenByOthers.add(at);
          touched = true;
        }
      }
      for (const term of anti) {
        const at = domain(view.node, term.topologyKey);
        if (at !== undefined && matches(term, pod, other)) refused.add(at);
      }
      for (const [index, term] of affinity.entries()) {
        const at = domain(view.node, term.topologyKey);
        if (at !== undefined && matches(term, pod, other)) met[index]?.add(at);
      }
      for (const { term, weight } of weighted) {
        const at = domain(view.node, term.topologyKey);
        if (at !== undefined && matches(term, pod, other))
          preferred.set(at, (preferred.get(at) ?? 0) + weight);
      }
    }
  }
  if (!touched) return nothing;
  // The first pod of a group that wants to be together would otherwise wait for itself.
  const required = met.map((domains, index) => {
    const term = affinity[index];
    return domains.size === 0 && term !== undefined && matches(term, pod, pod) ? undefined : domains;
  });
  return { forbiddenByOthers, refused, required, preferred };
}

/** Why a node is out of the question, in the scheduler's words. */
export function affinityObstacle(pod: Pod, node: Node, relations: Relations): string | undefined {
  const terms = requiredTerms(pod.spec.affinity?.podAffinity);
  for (const [index, domains] of relations.required.entries()) {
    const at = domain(node, terms[index]?.topologyKey ?? '');
    if (at === undefined || (domains !== undefined && !domains.has(at)))
      return "node(s) didn't match pod affinity rules";
  }
  for (const at of relations.refused)
    if (isIn(node, at)) return "node(s) didn't match pod anti-affinity rules";
  for (const at of relations.forbiddenByOthers)
    if (isIn(node, at)) return "node(s) didn't satisfy existing pods anti-affinity rules";
  return undefined;
}

export function affinityWeight(node: Node, relations: Relations): number {
  let sum = 0;
  for (const [at, weight] of relations.preferred) if (isIn(node, at)) sum += weight;
  return sum;
}

function isIn(node: Node, at: string): boolean {
  const cut = at.indexOf('=');
  return node.metadata.labels?.[at.slice(0, cut)] === at.slice(cut + 1);
}

function weightedTerms(pod: Pod): { term: Term; weight: number }[] {
  const of = (
    affinity: { preferredDuringSchedulingIgnoredDuringExecution?: readonly unknown[] } | undefined,
    sign: number,
  ) =>
    (
      (affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []) as {
        weight: number;
        podAffinityTerm: Term;
      }[]
    ).map((entry) => ({ term: entry.podAffinityTerm, weight: sign * entry.weight }));
  return [...of(pod.spec.affinity?.podAffinity, 1), ...of(pod.spec.affinity?.podAntiAffinity, -1)];
}

/** Namespaces count as the term's own list, or the pod's namespace; an empty namespaceSelector means all. */
function matches(term: Term, of: Pod, other: Pod): boolean {
  const everywhere = term.namespaceSelector !== undefined && Object.keys(term.namespaceSelector).length === 0;
  const namespaces = term.namespaces?.length ? term.namespaces : [of.metadata.namespace ?? ''];
  if (!everywhere && !namespaces.includes(other.metadata.namespace ?? '')) return false;
  return selectorMatches(term.labelSelector, other.metadata.labels);
}

/** The sum of the weights of the preferences a node fulfils. */
export function preferenceWeight(pod: Pod, node: Node): number {
  return (pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).reduce(
    (sum, entry) => sum + (termMatches(entry.preference, node) ? entry.weight : 0),
    0,
  );
}
