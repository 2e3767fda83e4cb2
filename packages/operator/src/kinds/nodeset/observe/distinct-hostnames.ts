import type { KubeNode } from '../plan/observed.ts';

/**
 * DaemonSet mode: a worker is called like the first part of its Node's name. Where two Nodes share it (`node1.rack1`, `node1.rack2`), the one
 * that was there first keeps it, and the others get their whole names, with dashes. `createdAt` in milliseconds.
 */
export function distinctHostnames(
  nodes: ReadonlyMap<string, KubeNode>,
  createdAt: (node: string) => number,
): ReadonlyMap<string, KubeNode> {
  if (new Set(nodes.values().map((node) => node.workerHostname)).size === nodes.size) return nodes;
  const byHostname = Map.groupBy(nodes.values(), (node) => node.workerHostname);
  const distinct = new Map(nodes);
  for (const alike of byHostname.values()) {
    const [, ...later] = alike.toSorted(
      (a, b) => createdAt(a.name) - createdAt(b.name) || (a.name < b.name ? -1 : 1),
    );
    for (const node of later) distinct.set(node.name, { ...node, workerHostname: wholeName(node.name) });
  }
  return distinct;
}

/** A host name has at most 63 characters; the end of the name tells two Nodes apart. */
function wholeName(node: string): string {
  return node.replaceAll('.', '-').slice(-63).replace(/^-+/, '');
}
