/** What changed between two lists of nodes. Pure. */
import type { SlurmNode } from '../model/node.ts';
import { sameNodeState } from '../node-state.ts';

/** The sides of a node that may change. `load` changes with every ping of its slurmd. */
export type NodeFacet =
  | 'state'
  | 'reason'
  | 'allocation'
  | 'address'
  | 'features'
  | 'comment'
  | 'extra'
  | 'placement'
  | 'capacity'
  | 'registration'
  | 'load';

export type NodeChange =
  | { readonly type: 'added'; readonly node: SlurmNode }
  | {
      readonly type: 'changed';
      readonly node: SlurmNode;
      readonly before: SlurmNode;
      readonly facets: ReadonlySet<NodeFacet>;
    }
  | { readonly type: 'removed'; readonly node: SlurmNode };

const fieldsOf: Readonly<Record<Exclude<NodeFacet, 'state'>, readonly (keyof SlurmNode)[]>> = {
  reason: ['reason', 'reasonSetBy', 'reasonSetAt'],
  allocation: ['allocatedCpus', 'allocatedMemory', 'gresUsed'],
  address: ['hostname', 'address', 'port'],
  features: ['features', 'activeFeatures'],
  comment: ['comment'],
  extra: ['extra'],
  placement: ['partitions', 'reservation', 'topology'],
  capacity: ['cpus', 'memory', 'gres'],
  registration: [
    'instanceId',
    'instanceType',
    'architecture',
    'operatingSystem',
    'version',
    'bootedAt',
    'slurmdStartedAt',
    'resumeAfter',
  ],
  load: ['freeMemory', 'cpuLoad', 'lastBusyAt'],
};
const facets = Object.entries(fieldsOf) as [NodeFacet, readonly (keyof SlurmNode)[]][];

/** The facets in which two readings of a node differ. */
export function nodeFacets(before: SlurmNode, after: SlurmNode): ReadonlySet<NodeFacet> {
  const changed = new Set<NodeFacet>();
  if (!sameNodeState(before.state, after.state)) changed.add('state');
  for (const [facet, fields] of facets)
    if (fields.some((field) => !sameValue(before[field], after[field]))) changed.add(facet);
  return changed;
}

/**
 * The list as a map, and what is different from the map before. Nodes that did not change keep their identity, so that
 * consumers can compare by `===` and two lists do not cost the memory of two.
 */
export function nodeChanges(
  before: ReadonlyMap<string, SlurmNode>,
  list: readonly SlurmNode[],
): { readonly nodes: ReadonlyMap<string, SlurmNode>; readonly changes: readonly NodeChange[] } {
  const nodes = new Map<string, SlurmNode>();
  const changes: NodeChange[] = [];
  for (const node of list) {
    const known = before.get(node.name);
    if (known === undefined) {
      changes.push({ type: 'added', node });
      nodes.set(node.name, node);
      continue;
    }
    const changed = nodeFacets(known, node);
    if (changed.size > 0) changes.push({ type: 'changed', node, before: known, facets: changed });
    nodes.set(node.name, changed.size > 0 ? node : known);
  }
  for (const [name, node] of before) if (!nodes.has(name)) changes.push({ type: 'removed', node });
  return { nodes, changes };
}

function sameValue(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b;
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
