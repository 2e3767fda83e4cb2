/** What changed between two lists of nodes. Pure. */
import { isBusy, sameNodeState } from '../meaning/node-state.ts';
import type { SlurmNode } from '../model/node.ts';

/** Groups of fields of a node. `load` changes with every ping of its slurmd. */
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

/** The facets in which two versions of a node differ. */
export function nodeFacets(before: SlurmNode, after: SlurmNode): ReadonlySet<NodeFacet> {
  const changed = new Set<NodeFacet>();
  if (!sameNodeState(before.state, after.state)) changed.add('state');
  for (const [facet, fields] of facets)
    if (fields.some((field) => !sameValue(before[field], after[field]))) changed.add(facet);
  return changed;
}

export interface NodeDifference {
  readonly nodes: ReadonlyMap<string, SlurmNode>;
  readonly changes: readonly NodeChange[];
}

/**
 * A list as a map, and its differences from the previous map, a chunk at a time. Nodes that did not change keep their
 * identity, so that consumers can compare by `===` and two lists do not cost the memory of two.
 */
export class NodeComparison {
  readonly #before: ReadonlyMap<string, SlurmNode>;
  readonly #nodes = new Map<string, SlurmNode>();
  readonly #changes: NodeChange[] = [];

  constructor(before: ReadonlyMap<string, SlurmNode>) {
    this.#before = before;
  }

  add(list: readonly SlurmNode[]): void {
    for (const node of list) {
      const before = this.#before.get(node.name);
      if (before === node) {
        this.#nodes.set(node.name, node);
        continue;
      }
      const facetsChanged = before && nodeFacets(before, node);
      if (before === undefined) this.#changes.push({ type: 'added', node });
      else if (facetsChanged && facetsChanged.size > 0)
        this.#changes.push({ type: 'changed', node, before, facets: facetsChanged });
      this.#nodes.set(node.name, before !== undefined && facetsChanged?.size === 0 ? before : node);
    }
  }

  finish(): NodeDifference {
    for (const [name, node] of this.#before)
      if (!this.#nodes.has(name)) this.#changes.push({ type: 'removed', node });
    return { nodes: this.#nodes, changes: this.#changes };
  }
}

/** The nodes that have fewer allocations than before, or that are gone: a job ended there or was removed. */
export function workLeft(changes: readonly NodeChange[]): readonly string[] {
  return changes.flatMap((change) => {
    if (change.type === 'added') return [];
    if (change.type === 'removed') return [change.node.name];
    const { before, node } = change;
    const left = node.allocatedCpus < before.allocatedCpus || (isBusy(before.state) && !isBusy(node.state));
    return left ? [node.name] : [];
  });
}

function sameValue(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b;
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
