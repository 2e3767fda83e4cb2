/** Which folder of a package may import which: the edges are data, and a new one is a decision. Pure. */
import { cycles, type FolderGraph, isFile } from './folder-graph.ts';

export interface PackageEdges {
  /** Folder → what it may import inside its package. The keys are all folders there are. */
  readonly folders: Readonly<Record<string, readonly string[]>>;
}

const LIST = 'tools/layers/edges.json';

/** Every breach of the declared edges, as sentences. */
export function folderBreaches(name: string, graph: FolderGraph, declared: PackageEdges): string[] {
  const found: string[] = [];
  for (const [from, targets] of graph) {
    // Files at the top put the package together; they are checked for cycles only.
    if (isFile(from)) continue;
    const allowed = declared.folders[from];
    if (allowed === undefined) found.push(`${name}: folder ${from} is not declared in ${LIST}`);
    for (const to of targets)
      if (allowed !== undefined && !allowed.includes(to))
        found.push(`${name}: ${from} imports ${to}; invert the dependency, or declare the edge in ${LIST}`);
  }
  for (const group of cycles(graph)) found.push(`${name}: ${group.join(', ')} import each other in a circle`);
  return found;
}

/** Declared edges and folders that are gone: removed from the list, they cannot come back unseen. */
export function staleEdges(name: string, graph: FolderGraph, declared: PackageEdges): string[] {
  return Object.entries(declared.folders).flatMap(([from, targets]) => {
    const actual = graph.get(from);
    if (actual === undefined) return [`${name}: folder ${from} is gone; remove it from ${LIST}`];
    return targets
      .filter((to) => !actual.has(to))
      .map((to) => `${name}: ${from} no longer imports ${to}; remove the edge from ${LIST}`);
  });
}
