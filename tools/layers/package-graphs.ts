/** The folder graph of every package, with the edges that are declared for it. */
import { readFileSync } from 'node:fs';
import { type FolderGraph, folderGraph } from './folder-graph.ts';
import type { PackageEdges } from './folder-rules.ts';
import { readSources } from './sources.ts';

export interface PackageGraph {
  readonly name: string;
  readonly graph: FolderGraph;
  readonly declared: PackageEdges;
}

export function packageGraphs(): PackageGraph[] {
  const edges = JSON.parse(readFileSync('tools/layers/edges.json', 'utf8')) as Record<string, PackageEdges>;
  return Object.entries(edges).map(([name, declared]) => {
    const root = `${name}/src`;
    const nested = Object.keys(declared.folders).filter((folder) => folder.includes('/'));
    return { name, declared, graph: folderGraph(root, readSources([`${root}/**/*.ts`]), nested) };
  });
}
