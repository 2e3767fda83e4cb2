/** Follows the nodes of one Slurm, by lists that cost little while nothing changes. */
import { setImmediate } from 'node:timers/promises';
import type { SlurmClient } from '../client.ts';
import type { Clock } from '../clock.ts';
import type { SlurmNode } from '../model/node.ts';
import { ListMemory } from '../wire/list-memory.ts';
import { Lister, type ListSinceOptions } from './lister.ts';
import { type NodeChange, NodeComparison, type NodeDifference } from './node-changes.ts';
import { type PaceOptions, pace } from './pace.ts';
import type { Known, View } from './view.ts';

export interface NodeContent {
  readonly nodes: ReadonlyMap<string, SlurmNode>;
}

interface Listing extends NodeContent {
  readonly updateTime: number | undefined;
  readonly listedInFullAt: number;
  readonly changes: readonly NodeChange[];
}

export type NodesView = View<NodeContent>;
export type KnownNodes = Known<NodeContent>;

/** One list's worth of news. `changes` is empty when only the view changed (Slurm is gone, or back and the same). */
export interface NodeNews {
  readonly view: NodesView;
  readonly before: NodesView;
  readonly changes: readonly NodeChange[];
}

export interface WatchOptions {
  readonly client: SlurmClient;
  readonly pace?: Partial<PaceOptions>;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly onListenerError?: (error: unknown) => void;
}

/** "Unchanged" is believed for this long; then the list is read in full once, whatever Slurm says. */
const fullEveryMs = 30 * 60_000;
/** Up to so many nodes are always listed in full: to Slurm the removal of its last nodes is no change, and they cost little. */
const fewNodes = 20;
/** A 12.8 MB list of 5,000 nodes earns a minute of rest. */
const idleBytesPerSecond = 200_000;

/** Nodes compared at a stretch. */
const pieceSize = 500;

/** All nodes of a cluster, always by list: the answer for a single node is stale. */
export class NodeWatch {
  readonly #lister: Lister<Listing>;
  #distrusted = false;

  constructor(options: WatchOptions) {
    const { client, clock, random, onListenerError } = options;
    const memory = new ListMemory<SlurmNode>((node) => node.name);
    this.#lister = new Lister<Listing>({
      name: 'nodes',
      pace: pace({ idleBytesPerSecond, ...options.pace }),
      blockedMs: () => client.circuit().waitMs,
      ...(clock && { clock }),
      ...(random && { random }),
      ...(onListenerError && { onListenerError }),
      fetch: async (last, signal, lost) => {
        const distrusted = this.#distrusted;
        this.#distrusted = false; // what contradicts the view while this list is under way asks for another one
        const inFull =
          distrusted ||
          lost ||
          last?.updateTime === undefined ||
          last.nodes.size <= fewNodes ||
          last.at - last.listedInFullAt >= fullEveryMs;
        const listed = inFull
          ? ({ changed: true, ...(await client.nodes.list({ signal, memory })) } as const)
          : await client.nodes.listSince(last.updateTime, { signal, memory });
        const { beganAt } = listed;
        if (!listed.changed) {
          if (last === undefined) throw new Error('Slurm answered "unchanged" to a list in full');
          return { content: { ...last, changes: [] }, beganAt, bytes: 0 };
        }
        const { nodes, changes } = await compare(last?.nodes ?? new Map(), listed.items);
        const content = { nodes, changes, updateTime: listed.updateTime, listedInFullAt: beganAt };
        return { content, beganAt, bytes: listed.bytes };
      },
    });
  }

  get view(): NodesView {
    return this.#lister.view;
  }

  start(): void {
    this.#lister.start();
  }

  stop(): Promise<void> {
    return this.#lister.stop();
  }

  /** Called once per list that brought news, and whenever the view becomes known or unknown. */
  subscribe(listener: (news: NodeNews) => void): () => void {
    return this.#lister.subscribe((view, before) => {
      const changes = view.kind === 'known' ? view.changes : [];
      if (changes.length > 0 || view.kind !== before.kind) listener({ view, before, changes });
    });
  }

  /** The next list is read in full: something contradicts the view, and "unchanged" would keep it. */
  distrust(): void {
    this.#distrusted = true;
  }

  /**
   * What slurmctld's clock says now. Where it was set back, a change may seem older than the last list, and Slurm answers "unchanged"
   * although something has changed (seen on 24.11 and 26.05): the next list is read in full then.
   */
  controllerTime(time: number): void {
    const { view } = this.#lister;
    const last = view.kind === 'known' ? view : view.last;
    if (last?.updateTime !== undefined && last.updateTime * 1000 > time + 1000) this.distrust();
  }

  /** Lists about every second until disposed: for as long as something waits for Slurm. */
  pollFast(): Disposable {
    return this.#lister.pollFast();
  }

  /** What a list shows that began after `moment`, such as the `at` of a drain that was accepted. */
  listSince(moment: number, options?: ListSinceOptions): Promise<KnownNodes> {
    return this.#lister.listSince(moment, options);
  }
}

/** Long lists are compared in pieces, so that the rest of the process is not held up. */
async function compare(
  before: ReadonlyMap<string, SlurmNode>,
  list: readonly SlurmNode[],
): Promise<NodeDifference> {
  const comparison = new NodeComparison(before);
  for (let at = 0; at < list.length; at += pieceSize) {
    if (at > 0) await setImmediate();
    comparison.add(list.slice(at, at + pieceSize));
  }
  return comparison.finish();
}
