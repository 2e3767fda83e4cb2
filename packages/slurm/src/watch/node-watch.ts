/** Watches the nodes of one Slurm, by lists that cost little while nothing changes. */
import { setImmediate } from 'node:timers/promises';
import type { SlurmClient } from '../client.ts';
import { type Clock, sleep, systemClock } from '../clock.ts';
import { SlurmError } from '../errors.ts';
import { isBusy, type NodeState } from '../meaning/node-state.ts';
import type { SlurmNode } from '../model/node.ts';
import { ListMemory } from '../wire/list-memory.ts';
import { Lister, type ListSinceOptions } from './lister.ts';
import { type NodeChange, NodeComparison, type NodeDifference, nodeFacets } from './node-changes.ts';
import { type PaceOptions, pace, type Waiting } from './pace.ts';
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

/** The changes of one list. `changes` is empty if only the view changed (an outage began, or ended without changes). */
export interface NodesNotification {
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

/** After this long the list is read in full even if Slurm would respond "unchanged". */
const fullEveryMs = 30 * 60_000;
/** Up to this many nodes are always listed in full: it is cheap, and Slurm does not count the removal of its last nodes as a change. */
const fewNodes = 20;
/** After a 12.8 MB list of 5,000 nodes the next poll is a minute later. */
const idleBytesPerSecond = 200_000;

/** More nodes than this are not read one by one: a list is as cheap. */
export const mostSingleReads = 64;
/** slurmctld begins to power a node up within its `power_save_interval`, a second. */
const lastMoments = { work: 5, sleep: 8 };
const lastMomentMs = 200;

/** What a node is read again for: that its work ends, or that its sleep does. */
type Ending = keyof typeof lastMoments;

const goesOn: Readonly<Record<Ending, (state: NodeState) => boolean>> = {
  work: isBusy,
  sleep: ({ flags }) => flags.has('POWERED_DOWN'),
};

/** Number of nodes that are compared before other work of the event loop runs. */
const pieceSize = 500;

/** All nodes of a cluster, always by list: the response for a single node is stale. */
export class NodeWatch {
  readonly #lister: Lister<Listing>;
  readonly #client: SlurmClient;
  readonly #clock: Clock;
  #invalidated = false;
  /** Nodes that are read again as soon as no other read is under way. */
  #toRead = new Map<string, Ending>();
  #reading: Promise<void> | undefined;
  #stop = new AbortController();

  constructor(options: WatchOptions) {
    const { client, clock, random, onListenerError } = options;
    this.#client = client;
    this.#clock = clock ?? systemClock;
    const memory = new ListMemory<SlurmNode>((node) => node.name);
    this.#lister = new Lister<Listing>({
      name: 'nodes',
      pace: pace({ idleBytesPerSecond, ...options.pace }),
      blockedMs: () => client.circuit().waitMs,
      ...(clock && { clock }),
      ...(random && { random }),
      ...(onListenerError && { onListenerError }),
      fetch: async (last, signal, lost) => {
        const invalidated = this.#invalidated;
        this.#invalidated = false; // a contradiction during this list requires another one
        const inFull =
          invalidated ||
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
          // What was read of single nodes meanwhile stays.
          const { view } = this.#lister;
          const nodes = view.kind === 'known' ? view.nodes : last.nodes;
          return { content: { ...last, nodes, changes: [] }, beganAt, bytes: 0 };
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

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all([this.#lister.stop(), this.#reading]);
    this.#stop = new AbortController();
  }

  /**
   * Reads some nodes again now, without a list of all; what changed is notified as after a list. The view does not become younger by it: a
   * decision that needs a young list still needs one. Best effort: an error leaves it to the next list.
   */
  readAgain(names: Iterable<string>, ending: Ending = 'work'): void {
    const { view } = this.#lister;
    if (view.kind === 'unknown') return;
    for (const name of names) if (view.nodes.has(name)) this.#toRead.set(name, ending);
    if (this.#toRead.size > 0) this.#reading ??= this.#readSome(this.#stop.signal);
  }

  /** Jobs wait for these nodes: those that sleep are read until Slurm powers them up. Where a list costs nothing, it shows that as soon. */
  awaited(names: Iterable<string>): void {
    const { view } = this.#lister;
    if (view.kind === 'unknown' || view.nodes.size <= fewNodes) return;
    const sleeping = [...names].filter((name) => view.nodes.get(name)?.state.flags.has('POWERED_DOWN'));
    this.readAgain(sleeping, 'sleep');
  }

  /** Lists as soon as possible. */
  listSoon(): void {
    this.listSince(this.#clock.now(), { signal: this.#stop.signal }).catch(ignoreSlurm);
  }

  async #readSome(signal: AbortSignal): Promise<void> {
    try {
      while (this.#toRead.size > 0 && !signal.aborted) {
        const endings = this.#toRead;
        this.#toRead = new Map();
        if (endings.size > mostSingleReads) await this.listSince(this.#clock.now(), { signal });
        else await this.#readThese(endings, signal);
      }
    } catch (error) {
      if (!(error instanceof SlurmError)) throw error;
    } finally {
      this.#reading = undefined;
    }
  }

  /** Where a node is still busy its job may be in its last moments: it is read again for a while. So is one that still sleeps. */
  async #readThese(endings: ReadonlyMap<string, Ending>, signal: AbortSignal): Promise<void> {
    let left = [...endings];
    for (let round = 0; left.length > 0 && !signal.aborted; round += 1) {
      if (round > 0) await sleep(this.#clock, lastMomentMs, signal);
      const names = left.map(([name]) => name);
      const { nodes, beganAt } = await this.#client.nodes.current(names, { signal });
      this.#amend(nodes, beganAt);
      const states = new Map(nodes.map(({ name, state }) => [name, state]));
      left = left.filter(([name, ending]) => {
        const state = states.get(name);
        return state !== undefined && goesOn[ending](state) && round + 1 < lastMoments[ending];
      });
      // Others have ended meanwhile: all go together.
      if (this.#toRead.size > 0) break;
    }
    if (this.#toRead.size > 0) for (const [name, ending] of left) this.#toRead.set(name, ending);
  }

  #amend(read: readonly SlurmNode[], beganAt: number): void {
    this.#lister.amend((known) => {
      // A list that began later shows these nodes as they are since, a drain included that was accepted in between.
      if (known.at > beganAt) return { ...known, changes: [] };
      const nodes = new Map(known.nodes);
      const changes: NodeChange[] = [];
      for (const node of read) {
        const before = nodes.get(node.name);
        const facets = before === undefined ? new Set<never>() : nodeFacets(before, node);
        if (before === undefined || facets.size === 0) continue;
        nodes.set(node.name, node);
        changes.push({ type: 'changed', node, before, facets });
      }
      return { ...known, nodes, changes };
    });
  }

  /** Called once per list with changes, and whenever the view becomes known or unknown. */
  subscribe(listener: (notification: NodesNotification) => void): () => void {
    return this.#lister.subscribe((view, before) => {
      const changes = view.kind === 'known' ? view.changes : [];
      if (changes.length > 0 || view.kind !== before.kind) listener({ view, before, changes });
    });
  }

  /** Reads the next list in full: the view may be wrong, and "unchanged" would keep it. */
  invalidate(): void {
    this.#invalidated = true;
  }

  /**
   * Reports the time of slurmctld's clock. If it was set back, a change may seem older than the last list, and Slurm responds "unchanged"
   * although something has changed (observed on 24.11 and 26.05): then the next list is read in full.
   */
  controllerTime(time: number): void {
    const { view } = this.#lister;
    const last = view.kind === 'known' ? view : view.last;
    if (last?.updateTime !== undefined && last.updateTime * 1000 > time + 1000) this.invalidate();
  }

  /** Polls fast until disposed; see {@link Waiting}. */
  pollFast(waiting: Exclude<Waiting, false> = 'changes'): Disposable {
    return this.#lister.pollFast(waiting);
  }

  /** The content of a list that began after `moment`, such as the `at` of an accepted drain. */
  listSince(moment: number, options?: ListSinceOptions): Promise<KnownNodes> {
    return this.#lister.listSince(moment, options);
  }
}

/** The view says it. */
function ignoreSlurm(error: unknown): void {
  if (!(error instanceof SlurmError)) throw error;
}

/** Long lists are compared in chunks, so that the event loop is not blocked. */
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
