/** When nodes stopped and began to take jobs, for the timeline. Bounded; nodes that changed in the same way in one list are one entry. */
import { compressHostlist } from '@slurm-operator/slurm';
import type { NodeRow, NodeUse } from '../live/node-row.ts';

export interface NodeChange {
  readonly at: number;
  readonly from: NodeUse | 'new';
  readonly to: NodeUse | 'gone';
  readonly reason: string;
  readonly count: number;
  /** Hostlist, cut off where it is long. */
  readonly nodes: string;
}

const mostChanges = 500;
const mostNames = 400;
const longestHostlist = 200;
/** Jobs come and go all the time: that is in the charts. */
const working = new Set<NodeUse | 'new' | 'gone'>(['idle', 'mixed', 'allocated']);

export class NodeHistory {
  #changes: NodeChange[] = [];

  get changes(): readonly NodeChange[] {
    return this.#changes;
  }

  /** Each row with the one before it. The first list of a process changes nothing: pass nothing of it. */
  record(
    at: number,
    changed: Iterable<readonly [before: NodeRow | undefined, after: NodeRow | undefined]>,
  ): void {
    const groups = new Map<string, Omit<NodeChange, 'nodes' | 'count'> & { readonly names: string[] }>();
    for (const [before, after] of changed) {
      const from = before?.use ?? 'new';
      const to = after?.use ?? 'gone';
      if (from === to || (working.has(from) && working.has(to))) continue;
      const reason = after?.reason ?? '';
      const key = JSON.stringify([from, to, reason]);
      const name = (after ?? before)?.key ?? '';
      const known = groups.get(key);
      if (known === undefined) groups.set(key, { at, from, to, reason, names: [name] });
      else known.names.push(name);
    }
    for (const { names, ...change } of groups.values())
      this.#changes.push({ ...change, count: names.length, nodes: hostlistOf(names) });
    if (this.#changes.length > mostChanges) this.#changes = this.#changes.slice(-mostChanges);
  }
}

function hostlistOf(names: readonly string[]): string {
  let text: string;
  try {
    text = compressHostlist(names.slice(0, mostNames));
  } catch {
    text = names.slice(0, mostNames).join(',');
  }
  const isCut = names.length > mostNames || text.length > longestHostlist;
  return isCut ? `${text.slice(0, longestHostlist)}…` : text;
}
