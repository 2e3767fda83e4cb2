/** The folders of a package as a Mermaid picture. Pure. */
import { cycles, type FolderGraph, isFile } from './folder-graph.ts';

/**
 * Files at the top of a package are left out, and so are arrows that a longer way says too. A dashed arrow is part of a circle.
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
