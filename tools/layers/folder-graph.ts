/** The folders of a package as a graph: which imports which, and where that goes round in a circle. Pure. */

import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import type { PackageEdges } from './folder-rules.ts';
import { isTest, readSources, type Source } from './sources.ts';

/** Folder → the folders it imports. A file at the top of `src` is a node of its own. */
export type FolderGraph = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * The graph of one `src` folder. `nested` names folders that count on their own although they are inside another one
 * (`strategy/builtins`); all others are the first level.
 */
export function folderGraph(
  root: string,
  sources: readonly Source[],
  nested: readonly string[],
): FolderGraph {
  const graph = new Map<string, Set<string>>();
  for (const { file, imports } of sources) {
    if (!file.startsWith(`${root}/`) || isTest(file)) continue;
    const from = folderOf(file.slice(root.length + 1), nested);
    const targets = graph.get(from) ?? new Set();
    graph.set(from, targets);
    for (const specifier of imports) {
      if (!specifier.startsWith('.')) continue;
      const target = posix.join(posix.dirname(file), specifier);
      if (!target.startsWith(`${root}/`)) continue;
      const to = folderOf(target.slice(root.length + 1), nested);
      if (to !== from) targets.add(to);
    }
  }
  return graph;
}

export const isFile = (node: string): boolean => /\.tsx?$/.test(node);

function folderOf(path: string, nested: readonly string[]): string {
  const inside = nested
    .filter((folder) => path.startsWith(`${folder}/`))
    .toSorted((a, b) => b.length - a.length);
  return inside[0] ?? path.split('/')[0] ?? '';
}

/** Groups of nodes that reach each other (Tarjan); those of one node are left out. */
export function cycles(graph: FolderGraph): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (node: string): number => {
    const index = order.size;
    order.set(node, index);
    let low = index;
    stack.push(node);
    for (const next of graph.get(node) ?? [])
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (stack.includes(next)) low = Math.min(low, order.get(next) ?? low);
    lowest.set(node, low);
    if (low === index) {
      const group = stack.splice(stack.indexOf(node));
      if (group.length > 1) found.push(group.toSorted());
    }
    return low;
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return found.toSorted((a, b) => ((a[0] ?? '') < (b[0] ?? '') ? -1 : 1));
}

export interface PackageGraph {
  readonly name: string;
  readonly graph: FolderGraph;
  readonly declared: PackageEdges;
}

export function packageGraphs(): PackageGraph[] {
  const edges = JSON.parse(readFileSync('tools/layers/edges.json', 'utf8')) as Record<string, PackageEdges>;
  return Object.entries(edges).map(([name, declared]) => {
    // A large folder of a package has a graph of its own.
    const root = name.includes('/src/') ? name : `${name}/src`;
    const nested = Object.keys(declared.folders).filter((folder) => folder.includes('/'));
    return { name, declared, graph: folderGraph(root, readSources([`${root}/**/*.{ts,tsx}`]), nested) };
  });
}

/**
 * The folders of a package as a Mermaid picture. Files at the top of a package are left out, and so are arrows that a longer path
 * implies. A dashed arrow is part of a cycle.
 */
export function drawGraph(graph: FolderGraph): string {
  const folders = [...graph.keys()].filter((node) => !isFile(node)).toSorted();
  const groupOf = new Map(cycles(graph).flatMap((group) => group.map((node) => [node, group] as const)));
  const targetsOf = (node: string) =>
    [...(graph.get(node) ?? [])].filter((to) => folders.includes(to)).toSorted();
  const isCircular = (from: string, to: string) => groupOf.get(from)?.includes(to) === true;
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
    targetsOf(from).some((next) => next === to || (!seen.has(next) && reaches(next, to, seen.add(next))));
  const isImplied = (from: string, to: string) =>
    targetsOf(from).some(
      (via) => via !== to && !isCircular(from, via) && !isCircular(via, to) && reaches(via, to),
    );
  const lines = folders.flatMap((from) => {
    const shown = targetsOf(from).filter((to) => isCircular(from, to) || !isImplied(from, to));
    return shown.map((to) => `  ${id(from)} ${isCircular(from, to) ? '-.->' : '-->'} ${id(to)}`);
  });
  const nodes = folders.map((folder) => `  ${id(folder)}[${folder}]`);
  return ['```mermaid', 'flowchart TD', ...nodes, ...lines, '```'].join('\n');
}

const id = (folder: string): string => folder.replaceAll(/[^a-z0-9]/gi, '_');
