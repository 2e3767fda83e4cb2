/** Where each node is on the map, and the largest job that could start now. Pure; runs in the browser. */
import type { NodeRow } from './node-row.ts';

export interface MapGroup {
  readonly label: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly string[];
}

export interface NodeMap {
  readonly width: number;
  readonly height: number;
  readonly cell: number;
  readonly groups: readonly MapGroup[];
  /** The upper left corner of each node's cell. */
  readonly cells: ReadonlyMap<string, { readonly x: number; readonly y: number }>;
}

export interface MapOptions {
  /** Pixels. */
  readonly width: number;
  readonly groupOf: (row: NodeRow) => string;
}

const gap = 12;
const labelHeight = 18;
const cellGap = 2;
const largestCell = 26;
const smallestCell = 6;
/** The map should fit on a screen or two. */
const preferredHeight = 900;

/** Cells as large as the height allows; groups side by side, in their natural order. */
export function layOutNodes(rows: Iterable<NodeRow>, options: MapOptions): NodeMap {
  const members = new Map<string, string[]>();
  for (const row of rows) {
    const label = options.groupOf(row);
    const names = members.get(label);
    if (names === undefined) members.set(label, [row.key]);
    else names.push(row.key);
  }
  const groups = [...members]
    .toSorted(([a], [b]) => natural(a, b))
    .map(([label, names]) => ({ label, names: names.toSorted(natural) }));
  let map = place(groups, options.width, smallestCell);
  for (let cell = largestCell; cell > smallestCell; cell -= 2) {
    const tried = place(groups, options.width, cell);
    if (tried.height > preferredHeight) continue;
    map = tried;
    break;
  }
  return map;
}

/** The node under a point; `undefined` between cells. */
export function nodeAt(map: NodeMap, x: number, y: number): string | undefined {
  for (const group of map.groups) {
    if (x < group.x || x >= group.x + group.width || y < group.y || y >= group.y + group.height) continue;
    return group.nodes.find((name) => {
      const at = map.cells.get(name);
      return at !== undefined && x >= at.x && x < at.x + map.cell && y >= at.y && y < at.y + map.cell;
    });
  }
  return undefined;
}

function place(
  groups: readonly { readonly label: string; readonly names: readonly string[] }[],
  width: number,
  cell: number,
): NodeMap {
  const step = cell + cellGap;
  const cells = new Map<string, { x: number; y: number }>();
  const placed: MapGroup[] = [];
  let x = 0;
  let y = 0;
  let rowHeight = 0;
  for (const { label, names } of groups) {
    const most = Math.max(1, Math.floor((width + cellGap) / step));
    // About three times as wide as high, and wide enough for a label.
    const wanted = Math.max(Math.ceil(Math.sqrt(names.length * 3)), Math.ceil(72 / step));
    const columns = Math.min(most, wanted);
    const groupWidth = columns * step - cellGap;
    const groupHeight = labelHeight + Math.ceil(names.length / columns) * step;
    if (x > 0 && x + groupWidth > width) {
      x = 0;
      y += rowHeight + gap;
      rowHeight = 0;
    }
    names.forEach((name, at) => {
      cells.set(name, {
        x: x + (at % columns) * step,
        y: y + labelHeight + Math.floor(at / columns) * step,
      });
    });
    placed.push({ label, x, y, width: groupWidth, height: groupHeight, nodes: names });
    rowHeight = Math.max(rowHeight, groupHeight);
    x += groupWidth + gap;
  }
  return { width, height: y + rowHeight, cell, groups: placed, cells };
}

export interface LargestJob {
  readonly gpusPerNode: number;
  /** Nodes that have as many free GPUs now (for 0: that are idle), in all and in the best block. */
  readonly nodes: number;
  readonly nodesInOneBlock: number;
  readonly block: string;
}

/** For each number of GPUs per node that a node of this cluster can give; for 0 the idle nodes. */
export function largestJobs(rows: Iterable<NodeRow>): readonly LargestJob[] {
  const open = [...rows].filter((row) => row.open);
  const sizes = new Set<number>([0]);
  for (const { gpus } of open) for (let size = 1; size <= gpus; size *= 2) sizes.add(size);
  for (const { gpus } of open) if (gpus > 0) sizes.add(gpus);
  return [...sizes]
    .toSorted((a, b) => a - b)
    .map((gpusPerNode) => {
      const fitting = open.filter((row) =>
        gpusPerNode === 0 ? row.use === 'idle' : row.gpus - row.gpusUsed >= gpusPerNode,
      );
      const blocks = new Map<string, number>();
      for (const { block } of fitting) blocks.set(block, (blocks.get(block) ?? 0) + 1);
      const [block, nodesInOneBlock] = [...blocks].toSorted(([, a], [, b]) => b - a)[0] ?? ['', 0];
      return { gpusPerNode, nodes: fitting.length, nodesInOneBlock, block };
    });
}

export const natural = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });
